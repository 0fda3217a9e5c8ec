// The page of the view “Conversation”. It gets entries as HTML that the extension made safe, and everything else as text.
(() => {
  const vscode = acquireVsCodeApi();
  const at = (id) => document.getElementById(id);
  const [entries, message, problem] = [at("entries"), at("message"), at("problem")];
  let shown = "";
  message.value = vscode.getState()?.draft ?? "";

  const atEnd = () => entries.scrollHeight - entries.scrollTop - entries.clientHeight < 20;

  function put({ id, html }) {
    let row = document.querySelector(`[data-id="${CSS.escape(id)}"]`);
    if (!row) {
      row = document.createElement("div");
      row.className = "entry";
      row.dataset.id = id;
      entries.append(row);
    }
    row.innerHTML = html;
  }

  function draw(rows, removed) {
    const follow = atEnd();
    for (const id of removed) document.querySelector(`[data-id="${CSS.escape(id)}"]`)?.remove();
    rows.forEach(put);
    if (follow) entries.scrollTop = entries.scrollHeight;
  }

  function files(list) {
    const context = at("context");
    context.replaceChildren(...list.map(({ path, label }) => {
      const chip = document.createElement("button");
      chip.className = "chip";
      chip.title = "Remove from the context";
      chip.textContent = `${label} ×`;
      chip.onclick = () => vscode.postMessage({ kind: "remove", path });
      return chip;
    }));
    if (list.length > 1) {
      const clear = document.createElement("button");
      clear.className = "chip";
      clear.textContent = "Clear";
      clear.onclick = () => vscode.postMessage({ kind: "clear" });
      context.append(clear);
    }
  }

  function all({ id, text, connected, entries: rows, files: list }) {
    if (id !== shown) {
      entries.replaceChildren();
      shown = id;
    }
    at("heading").textContent = text;
    at("connect").hidden = connected;
    at("disconnect").hidden = id === "" || !connected;
    at("empty").hidden = id !== "";
    message.placeholder = connected ? "Message to the agent (Enter sends, Shift+Enter begins a new line)" : "Message to the agent: connect to send it";
    draw(rows, []);
    files(list);
  }

  window.addEventListener("message", ({ data }) => {
    if (data.kind === "all") all(data);
    else if (data.kind === "entries") draw(data.entries, data.removed);
    else if (data.kind === "sent") {
      problem.textContent = data.problem ?? "";
      if (data.problem === undefined || data.problem === null) keep("");
      message.disabled = false;
      if (document.hasFocus()) message.focus();
    }
  });

  function keep(text) {
    message.value = text;
    vscode.setState({ draft: text });
  }

  message.addEventListener("input", () => vscode.setState({ draft: message.value }));
  message.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (message.value.trim() !== "") {
      message.disabled = true;
      vscode.postMessage({ kind: "send", text: message.value });
    }
  });
  at("connect").onclick = () => {
    message.focus(); // what is typed once the address and the token are given, be it connected yet or not
    vscode.postMessage({ kind: "connect" });
  };
  window.addEventListener("focus", () => {
    if (document.activeElement === document.body) message.focus();
  });
  at("disconnect").onclick = () => vscode.postMessage({ kind: "disconnect" });
  vscode.postMessage({ kind: "ready" });
})();
