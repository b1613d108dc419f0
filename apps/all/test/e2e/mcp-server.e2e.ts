import { readFile } from 'node:fs/promises';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { MCPServerStdio } from '@openai/agents';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { Platform } from '../platform.js';

const SERVER = fileURLToPath(new URL('../../../../docs/mcp-server.mjs', import.meta.url));

const FOUND = [{ title: 'A title', url: 'https://example.com/a', content: 'What is found' }];

let web: TestServer;
let platform: Platform;
let keys: AccountKeys;
let agent: MCPServerStdio;

/** An agent with the documented server, which has this key. */
const agentWith = (apiKey: string): MCPServerStdio =>
  new MCPServerStdio({
    name: 'svc',
    command: process.execPath,
    args: [SERVER],
    env: { SVC_URL: platform.apiUrl, SVC_API_KEY: apiKey },
  });

/** The text that the agent's model gets. */
async function textOf(tool: string, args: Record<string, unknown> = {}, of = agent): Promise<string> {
  const parts = (await of.callTool(tool, args)) as { text?: string }[];
  return parts.map(({ text }) => text ?? '').join('');
}

beforeAll(async () => {
  web = await TestServer.start((request, response) => {
    if (request.method === 'POST')
      void json(request).then((call) => {
        const calls = [call].flat() as { id: unknown }[];
        const results = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x2a' }));
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(Array.isArray(call) ? results : results[0]));
      });
    else if (request.url === '/page')
      response.setHeader('content-type', 'text/html').end('<h1>Heading</h1><p>A sentence of the page.</p>');
    else response.end(JSON.stringify({ results: FOUND }));
  });
  const hosts = new URL(web.url).host;
  platform = await Platform.start({
    web: {
      extras: { webPage: 0.02, webSearch: 0.01 },
      search: { providers: [{ kind: 'searxng', url: web.url }], cacheSeconds: 0 },
    },
    cryptoRpc: { networks: { local: { family: 'evm', nodes: [{ url: web.url }] } } },
    env: { GATEWAY_PRIVATE_HOSTS: hosts, RETRIEVAL_PRIVATE_HOSTS: hosts, RETRIEVAL_HOST_PAUSE_MS: '0' },
  });
  keys = await AccountKeys.of(platform);
  agent = agentWith(keys.account.apiKey);
  await agent.connect();
});
afterAll(async () => {
  await agent?.close();
  await platform?.stop();
  await web?.close();
});

/** A call of each tool, and what is in its result. */
const CALLS: readonly [string, () => Record<string, unknown>, string][] = [
  ['web_search', () => ({ query: 'a title' }), 'What is found'],
  ['read_web_page', () => ({ url: `${web.url}/page` }), 'A sentence of the page.'],
  ['blockchain_networks', () => ({}), '"local"'],
  ['blockchain_call', () => ({ network: 'local', method: 'eth_blockNumber' }), '0x2a'],
  ['list_models', () => ({}), '"test-model"'],
  ['account_limits', () => ({}), '"balances"'],
  ['account_usage', () => ({}), '"data"'],
];

describe('the documented server for agents', () => {
  it('needs nothing but Node', async () => {
    const imports = [...(await readFile(SERVER, 'utf8')).matchAll(/\bfrom '([^']+)'/g)];
    expect(imports.map(([, name]) => name)).toEqual(['node:readline']);
  });

  it('lists its tools', async () => {
    const tools = await agent.listTools();
    expect(tools.map(({ name }) => name)).toEqual(CALLS.map(([name]) => name));
  });

  it.each(CALLS)('offers %s', async (tool, argsOf, expected) => {
    expect(await textOf(tool, argsOf())).toContain(expected);
  });

  it('is charged for its searches and pages as any request', async () => {
    const before = Number((await platform.balances(keys.account.id)).usd);
    await textOf('web_search', { query: 'another title' });
    await textOf('read_web_page', { url: `${web.url}/page` });
    await expect
      .poll(async () => before - Number((await platform.balances(keys.account.id)).usd))
      .toBeCloseTo(0.03, 9);
  });

  it('returns the errors of the API, and those of wrong calls', async () => {
    expect(await textOf('read_web_page', { url: 'nothing' })).toContain('INVALID_REQUEST');
    await expect(textOf('web_search')).rejects.toThrow('web_search needs query');
    await expect(textOf('unknown')).rejects.toThrow('there is no tool unknown');
    const stranger = agentWith('wrong');
    await stranger.connect();
    expect(await textOf('account_limits', {}, stranger)).toContain('AUTHENTICATION_FAILED');
    await stranger.close();
  });
});
