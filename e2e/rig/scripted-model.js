/**
 * A model with a script, on loopback: it answers the four wire forms that real agents speak (OpenAI chat completions,
 * OpenAI responses, Anthropic messages, Gemini's generateContent), one step for each request that offers tools. Side requests without tools
 * (titles, summaries) get a short answer and use up no step.
 *
 * Entry point: ScriptedModel.start. What is deliberately not here: anything of the agents' own, see agents.js.
 */
import http from 'node:http';

/** A tool of Pillion's, one of the agent's own, or a last word. @typedef {{tool: string, args: object} | {own: string, args: object} | {say: string}} Step */
/** @typedef {{name: string, namespace?: string}} Offered */

/** What a wire form makes of one request: the tools it offers, and the events or the body that answer it.
 * @typedef {{offered: (request: any) => Offered[], answer: (call: Call | null, text: string, id: string) => {events: string, body: object}}} Form */
/** @typedef {{offered: Offered, args: object}} Call */

/** @param {object[]} events */
const namedEvents = (events) => events.map((e) => `event: ${/** @type {any} */ (e).type}\ndata: ${JSON.stringify(e)}\n\n`).join('');

/** @type {Form} OpenAI chat completions, spoken by Qwen Code and opencode. */
const chatCompletions = {
  offered: (request) => (request.tools ?? []).map((/** @type {any} */ t) => ({ name: t.function.name })),
  answer(call, text, id) {
    const head = { id, created: 0, model: 'scripted' };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const toolCall = call && { id, type: 'function', function: { name: call.offered.name, arguments: JSON.stringify(call.args) } };
    const reason = call ? 'tool_calls' : 'stop';
    const delta = call ? { role: 'assistant', tool_calls: [{ index: 0, ...toolCall }] } : { role: 'assistant', content: text };
    const chunk = (/** @type {object} */ d, /** @type {string | null} */ finish_reason) =>
      ({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta: d, finish_reason }] });
    const chunks = [chunk(delta, null), { ...chunk({}, reason), usage }];
    const message = call ? { role: 'assistant', content: null, tool_calls: [toolCall] } : { role: 'assistant', content: text };
    return {
      events: chunks.map((c) => `data: ${JSON.stringify(c)}\n\n`).join('') + 'data: [DONE]\n\n',
      body: { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: reason }], usage },
    };
  },
};

/** @type {Form} OpenAI responses, spoken by Codex, which groups a server's tools in a namespace. */
const responses = {
  offered: (request) => (request.tools ?? []).flatMap((/** @type {any} */ t) => t.type === 'namespace'
    ? t.tools.map((/** @type {any} */ inner) => ({ name: inner.name, namespace: t.name }))
    : t.name ? [{ name: t.name }] : []),
  answer(call, text, id) {
    const item = call
      ? { type: 'function_call', id: `fc_${id}`, call_id: id, arguments: JSON.stringify(call.args), ...call.offered }
      : { type: 'message', id, role: 'assistant', content: [{ type: 'output_text', text }] };
    const usage = {
      input_tokens: 1, output_tokens: 1, total_tokens: 2,
      input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 },
    };
    const response = { id: `resp_${id}`, usage, output: [item] };
    return {
      events: namedEvents([
        { type: 'response.created', response: { id: response.id } },
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response },
      ]),
      body: response,
    };
  },
};

/** @type {Form} Anthropic messages, spoken by Claude Code. */
const messages = {
  offered: (request) => (request.tools ?? []).map((/** @type {any} */ t) => ({ name: t.name })),
  answer(call, text, id) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const stop_reason = call ? 'tool_use' : 'end_turn';
    const block = call ? { type: 'tool_use', id, name: call.offered.name, input: call.args } : { type: 'text', text };
    const message = { id, type: 'message', role: 'assistant', model: 'scripted', content: [block], stop_reason, stop_sequence: null, usage };
    const opening = call ? { ...block, input: {} } : { ...block, text: '' };
    const delta = call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.args) } : { type: 'text_delta', text };
    return {
      events: namedEvents([
        { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
        { type: 'content_block_start', index: 0, content_block: opening },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
        { type: 'message_stop' },
      ]),
      body: message,
    };
  },
};

/** @type {Form} generateContent, spoken by Gemini CLI. */
const generateContent = {
  offered: (request) => (request.tools ?? []).flatMap((/** @type {any} */ t) => t.functionDeclarations ?? []).map((/** @type {any} */ f) => ({ name: f.name })),
  answer(call, text) {
    const part = call ? { functionCall: { name: call.offered.name, args: call.args } } : { text };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    const body = { candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }], usageMetadata };
    return { events: `data: ${JSON.stringify(body)}\n\n`, body };
  },
};

/** @param {string} path @returns {Form | undefined} */
function formOf(path) {
  if (path.endsWith('/chat/completions')) return chatCompletions;
  if (path.endsWith('/responses')) return responses;
  if (path.endsWith('/messages')) return messages;
  if (/:(stream)?[gG]enerateContent$/.test(path)) return generateContent;
  return undefined;
}

export class ScriptedModel {
  /** Every request that offered tools, as the agent sent it. @type {any[]} */
  requests = [];
  #steps;
  #server;

  /** @param {Step[]} steps */
  constructor(steps) {
    this.#steps = [...steps];
    this.#server = http.createServer((request, response) => this.#serve(request, response));
  }

  /** @param {Step[]} steps */
  static async start(steps) {
    const model = new ScriptedModel(steps);
    await new Promise((resolve) => model.#server.listen(0, '127.0.0.1', () => resolve(undefined)));
    return model;
  }

  get url() {
    const address = /** @type {import('node:net').AddressInfo} */ (this.#server.address());
    return `http://127.0.0.1:${address.port}`;
  }

  /** Steps that no request has asked for yet: a test that expects a whole turn wants none. */
  get remaining() {
    return this.#steps.length;
  }

  /** The tools that the agent offered last, names as the model sees them. */
  get offered() {
    return this.requests.at(-1)?.offered.map((/** @type {Offered} */ o) => (o.namespace ?? '') + o.name) ?? [];
  }

  /** Everything the agent has told the model, for assertions on what came back from a tool. */
  get transcript() {
    return JSON.stringify(this.requests.at(-1)?.body ?? null);
  }

  async close() {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
  async #serve(request, response) {
    let raw = '';
    for await (const piece of request) raw += piece;
    const [place] = (request.url ?? '').split('?');
    const form = formOf(place);
    if (request.method !== 'POST' || !form) {
      json(response, { object: 'list', data: [{ id: 'scripted', object: 'model' }] });
      return;
    }
    const body = JSON.parse(raw);
    const answer = this.#next(form, body);
    if (body.stream || place.endsWith(':streamGenerateContent')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(answer.events);
    } else {
      json(response, answer.body);
    }
  }

  /** @param {Form} form @param {any} body */
  #next(form, body) {
    const offered = form.offered(body);
    const id = `call_${this.requests.length + 1}`;
    if (offered.length === 0) return form.answer(null, 'done', id);
    this.requests.push({ offered, body });
    const [step] = this.#steps;
    if (!step) return form.answer(null, 'done', id);
    const called = 'tool' in step ? find(step.tool, offered) : 'own' in step ? offered.find((o) => o.name === step.own) : undefined;
    // A step whose tool is missing stays: the test that counts what remains says so.
    if (!('say' in step) && !called) return form.answer(null, `no tool ${'tool' in step ? step.tool : step.own} was offered`, id);
    this.#steps.shift();
    return 'say' in step ? form.answer(null, step.say, id) : form.answer({ offered: /** @type {Offered} */ (called), args: step.args }, '', id);
  }
}

/** Pillion's own tool, whatever prefix the agent gives it: an agent's own tool may have the same bare name.
 * @param {string} name @param {Offered[]} offered */
function find(name, offered) {
  return offered.find((o) => /pillion/.test((o.namespace ?? '') + o.name) && o.name.endsWith(name));
}

/** @param {http.ServerResponse} response @param {object} body */
function json(response, body) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
