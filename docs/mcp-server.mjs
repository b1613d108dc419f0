// A server of the Model Context Protocol, for agents: web search, web pages, blockchain nodes and usage.
//   SVC_URL=http://127.0.0.1:3000/api/v1 SVC_API_KEY=… node docs/mcp-server.mjs
// An agent starts it, and both exchange lines of JSON-RPC 2.0 over its input and output.
import { createInterface } from 'node:readline';

const API = process.env.SVC_URL ?? 'http://127.0.0.1:3000/api/v1';
const KEY = process.env.SVC_API_KEY;

/** The versions of the protocol that have what is used here, newest first. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

const INVALID_PARAMS = -32_602;
const NO_SUCH_METHOD = -32_601;
const CALL_MS = 120_000;

const text = (description) => ({ type: 'string', description });
const schema = (properties, required = []) => ({ type: 'object', properties, required });

/** Each tool is a request to the API. */
const TOOLS = {
  web_search: {
    description: 'Searches the web. Charged if there are results.',
    inputSchema: schema(
      { query: text('What to search for.'), limit: { type: 'integer', minimum: 1, maximum: 20 } },
      ['query'],
    ),
    request: ({ query, limit }) => ['POST', '/augment/search', { query, limit }],
  },
  read_web_page: {
    description: 'Reads a web page as Markdown. Charged if the page can be read.',
    inputSchema: schema({ url: text('The address of the page.') }, ['url']),
    request: ({ url }) => ['POST', '/augment/scrape', { url }],
  },
  blockchain_networks: {
    description: 'Lists the networks of blockchain_call, and what a call costs.',
    inputSchema: schema({}),
    request: () => ['GET', '/crypto/rpc/networks'],
  },
  blockchain_call: {
    description: 'Calls a method of a blockchain node by JSON-RPC. Charged by the credits of the method.',
    inputSchema: schema(
      {
        network: text('A network of blockchain_networks.'),
        method: text('Such as eth_blockNumber.'),
        params: { type: 'array' },
      },
      ['network', 'method'],
    ),
    request: ({ network, method, params = [] }) => [
      'POST',
      `/crypto/rpc/${encodeURIComponent(network)}`,
      { jsonrpc: '2.0', id: 1, method, params },
    ],
  },
  list_models: {
    description: 'Lists the models with what they can do and what they cost. Free.',
    inputSchema: schema({
      type: text('Such as text, image, embedding, tts, asr, video or music. Default: text.'),
    }),
    request: ({ type = 'text' }) => ['GET', `/models?type=${encodeURIComponent(type)}`],
  },
  account_limits: {
    description: 'Shows the balances that the key can spend, and the limits of its requests. Free.',
    inputSchema: schema({}),
    request: () => ['GET', '/api_keys/rate_limits'],
  },
  account_usage: {
    description: 'Lists what the requests of the key have cost, newest first. Free.',
    inputSchema: schema({ limit: { type: 'integer', minimum: 1, maximum: 500 } }),
    request: ({ limit = 50 }) => ['GET', `/billing/usage?limit=${limit}`],
  },
};

class Fault extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** What the agent's model gets: the response of the API, also if that is an error. */
async function called({ name, arguments: given = {} }) {
  if (!Object.hasOwn(TOOLS, name)) throw new Fault(INVALID_PARAMS, `there is no tool ${name}`);
  const { inputSchema, request } = TOOLS[name];
  const missing = inputSchema.required.filter((each) => given[each] === undefined);
  if (missing.length > 0) throw new Fault(INVALID_PARAMS, `${name} needs ${missing.join(' and ')}`);
  const [method, path, body] = request(given);
  try {
    const response = await fetch(API + path, {
      method,
      headers: { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_MS),
    });
    return { content: [{ type: 'text', text: await response.text() }], isError: !response.ok };
  } catch (error) {
    return { content: [{ type: 'text', text: `${API} does not respond: ${error.message}` }], isError: true };
  }
}

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: 'svc', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.entries(TOOLS).map(([name, { description, inputSchema }]) => ({
      name,
      description,
      inputSchema,
    })),
  }),
  'tools/call': called,
};

async function respond({ id, method, params = {} }) {
  // A notification, or a response: neither gets one.
  if (id === undefined || method === undefined) return;
  const outcome = await (async () => {
    if (!Object.hasOwn(METHODS, method)) throw new Fault(NO_SUCH_METHOD, `there is no method ${method}`);
    return { result: await METHODS[method](params) };
  })().catch((error) => ({ error: { code: error.code ?? -32_603, message: error.message } }));
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  try {
    void respond(JSON.parse(line));
  } catch {
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'not JSON' } })}\n`,
    );
  }
}
