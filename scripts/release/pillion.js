#!/usr/bin/env node
// Starts the program of this system's package, with its standard input and output, and ends as it does.
const { spawn } = require('node:child_process');

const name = `@pillion/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/pillion${process.platform === 'win32' ? '.exe' : ''}`);
} catch {
  console.error(`pillion: the package ${name} is not installed. Install without --omit=optional; there is one for Linux, macOS and Windows, on x64 and arm64`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`pillion: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 1;
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
});
