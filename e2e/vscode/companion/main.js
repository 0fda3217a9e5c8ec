// What a ride asks of VS Code where no key and no click of a person is the subject: a line of JSON comes by a socket, a line goes
// back. The setting `companion.socket` says where; only the rides write it.
const net = require('node:net');
const readline = require('node:readline');
const vscode = require('vscode');

/** What can be asked for; each gives something that JSON can hold. */
const deeds = {
  /** Runs a command, as the palette does: what it asks and how it ends is not waited for. */
  async begin(command, ...args) {
    if (!(await vscode.commands.getCommands()).includes(command)) throw new Error(`there is no command ${command}`);
    vscode.commands.executeCommand(command, ...args).then(undefined, (error) => console.error(`${command}: ${error}`));
  },
  /** Runs a command to its end. */
  async run(command, ...args) {
    await vscode.commands.executeCommand(command, ...args);
  },
  /** Opens a file and puts the cursor into it. */
  async open(file) {
    await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
  },
  tabs() {
    return vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => ({ label: tab.label, address: addressOf(tab), isActive: tab.isActive, isDirty: tab.isDirty })));
  },
};

/** Of a diff, the side that can be edited, and of several diffs that of the first one. */
function addressOf({ input }) {
  return String(input?.modified ?? input?.textDiffs?.[0]?.modified ?? input?.uri ?? '');
}

exports.activate = ({ subscriptions }) => {
  const place = vscode.workspace.getConfiguration('companion').get('socket');
  if (!place) return;
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined); // the ride is over
    readline.createInterface({ input: socket }).on('line', async (line) => {
      const { id, deed, args } = JSON.parse(line);
      const answer = await Promise.resolve().then(() => deeds[deed](...args)).then((result) => ({ id, result }), (error) => ({ id, error: String(error) }));
      socket.write(`${JSON.stringify(answer)}\n`);
    });
  });
  server.listen(place);
  subscriptions.push({ dispose: () => server.close() });
};
