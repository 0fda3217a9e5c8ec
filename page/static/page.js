// What `pillion watch` shows in a browser. The sidecar's texts are put in as text, never as HTML; they are escaped there.
// Nothing is answered but by a button, and a button is dead for half a second after anything on the page has moved.

const byId = (id) => document.getElementById(id);
const cards = new Map(); // request id → {element, digest}
const inert = 500; // ms
const signs = { running: '→', waiting: '?', done: '✓', failed: '✗' };

/** Makes an element of a class that holds a text or other elements. */
function make(tag, className, ...content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...content);
  return element;
}

let armed;
/** Takes all buttons out of action for a moment: what stands under the pointer now may not be what stood there. */
function disarm() {
  clearTimeout(armed);
  for (const button of document.querySelectorAll('button.answer')) button.disabled = true;
  armed = setTimeout(() => {
    for (const button of document.querySelectorAll('button.answer')) button.disabled = false;
  }, inert);
}
document.addEventListener('visibilitychange', disarm);
addEventListener('focus', disarm);

/** Sends something to the sidecar; answers a sentence if it was refused. */
async function send(name, body) {
  try {
    const reply = await fetch(name, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    if (reply.ok) return '';
    return (await reply.json()).error;
  } catch {
    return 'Pillion cannot be reached; nothing was answered.';
  }
}

function answerButton(className, content, card, given) {
  const button = make('button', `answer ${className}`, ...content);
  button.type = 'button';
  button.addEventListener('click', async () => {
    disarm();
    const refused = await send('answer', { id: card.id, digest: card.digest, ...given() });
    const problem = card.element.querySelector('.problem');
    problem.textContent = refused;
    problem.hidden = refused === '';
  });
  return button;
}

function diff(rows) {
  return make('pre', '', ...rows.map((row) => make('span', row.kind,
    ...row.parts.map((part) => (part.marked ? make('mark', '', part.text) : part.text)))));
}

function facts(list) {
  return make('dl', '', ...list.flatMap((fact) => (fact.items ?? [fact.text]).flatMap((value, i) => [
    make('dt', '', i === 0 ? fact.label : ''), make('dd', fact.tone ?? '', value),
  ])));
}

function list(texts) {
  return make('ul', '', ...texts.map((text) => make('li', '', text)));
}

/** What would happen, as the terminal shows it. */
function preview(view) {
  const out = [];
  for (const file of view.files ?? []) {
    const size = [file.additions > 0 ? `+${file.additions}` : '', file.deletions > 0 ? `−${file.deletions}` : ''];
    out.push(make('p', 'file', [file.name, file.summary, ...size].filter(Boolean).join('  ')));
    if (file.facts.length > 0) out.push(facts(file.facts));
    if ((file.rows ?? []).length > 0) out.push(diff(file.rows));
  }
  const lines = (view.lines ?? []).join('\n');
  if (lines) out.push(view.command ? make('pre', 'command', lines) : make('p', 'message', lines));
  if ((view.facts ?? []).length > 0) out.push(facts(view.facts));
  if ((view.diff ?? []).length > 0) out.push(diff(view.diff));
  for (const notice of view.notices ?? []) out.push(make('p', 'changed', notice));
  return out;
}

/** The answers to a request. */
function answers(view, card, reason) {
  const yes = view.choices.map((choice) => answerButton('yes', [choice.title, ...(choice.rule ? [make('code', '', choice.rule)] : [])], card,
    () => ({ decision: 'approve', decisionId: choice.id })));
  const why = make('input', 'reason');
  why.placeholder = 'Why? The agent reads it (optional)';
  why.setAttribute('aria-label', 'Reason');
  why.maxLength = 10000;
  why.value = reason;
  return [
    make('div', 'choices', ...yes),
    make('div', 'no', why,
      answerButton('no-button', ['Reject'], card, () => ({ decision: 'reject', feedback: why.value })),
      answerButton('', ['Stop Agent'], card, () => ({ decision: 'cancel', feedback: why.value }))),
  ];
}

/** Shows a request as it is now, in the place that it has. */
function show(card, view) {
  const reason = card.element.querySelector('.reason')?.value ?? '';
  const problem = make('p', 'problem');
  problem.hidden = true;
  card.digest = view.digest;
  if (view.actions) {
    card.element.replaceChildren(...(view.who ? [make('h2', '', `${view.who} asks, in its own words:`)] : []),
      make('p', view.who ? 'message words' : 'message', view.message), make('div', 'choices',
      ...view.actions.map((action) => answerButton('', [action], card, () => ({ action }))),
      answerButton('', ['None of these'], card, () => ({ action: 'cancel' }))), problem);
    return;
  }
  card.element.replaceChildren(
    make('h2', '', make('span', 'who', `${view.who} asks: `), view.title),
    ...(view.reasons?.length ? [list(view.reasons.map((reason) => reason.text))] : []),
    ...(view.changed ? [make('p', 'changed', 'What this rests on has changed since you were asked. This is how it is now.')] : []),
    ...preview(view), ...answers(view, card, reason), problem);
}

async function refresh(heads) {
  for (const [id, card] of cards) {
    if (!heads.some((head) => head.id === id)) {
      card.element.remove();
      cards.delete(id);
      disarm();
    }
  }
  for (const { id, digest } of heads) {
    if (cards.get(id)?.digest === digest) continue;
    const reply = await fetch(`request?id=${encodeURIComponent(id)}`);
    if (!reply.ok) continue; // it is gone, which the next state says
    const view = await reply.json();
    if (!cards.has(id)) {
      const card = { id, element: make('article', ''), digest: '' };
      cards.set(id, card);
      byId('requests').append(card.element);
    }
    show(cards.get(id), view);
    disarm();
  }
}

function notice(text) {
  byId('notice').textContent = text;
  byId('notice').hidden = text === '';
}

function around(state) {
  byId('folder').textContent = state.folder;
  byId('empty').hidden = state.requests.length > 0 || state.ended;
  document.title = `${state.requests.length > 0 ? `(${state.requests.length}) ` : ''}Pillion`;
  notice(state.ended ? 'Pillion watch has ended. What waited was refused; nothing of it was done.'
    : state.editor ? `${state.editor} has this folder open: agents ask there, until it is closed.` : '');
  const paused = byId('paused');
  if (paused.hidden !== (state.paused.length === 0)) disarm();
  paused.hidden = state.paused.length === 0;
  paused.querySelector('p').textContent = `Stopped until you resume: ${state.paused.join(', ')}`;
  byId('activity').hidden = state.lines.length === 0;
  byId('activity').querySelector('ol').replaceChildren(
    ...[...state.lines].reverse().map((line) => make('li', '', `${signs[line.state] ?? '!'}  ${line.text}`)));
}

byId('paused').querySelector('button').addEventListener('click', () => { disarm(); void send('resume', {}); });

for (let version = -1, ended = false; !ended;) {
  try {
    const reply = await fetch(`state?after=${version}`);
    if (!reply.ok) throw new Error(reply.statusText);
    const state = await reply.json();
    await refresh(state.requests);
    around(state);
    ({ version, ended } = state);
  } catch {
    notice('Pillion cannot be reached. It may have ended: look where you started it.');
    await new Promise((done) => setTimeout(done, 1000));
  }
}
for (const button of document.querySelectorAll('button')) button.remove();
