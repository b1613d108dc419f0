import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { CodingAgents, RUN_MS } from './coding-agents.js';
import { openCommandLines } from './environments.js';
import { KINDS, ProviderFakes, doneBy } from './provider-fakes.js';

/** A harmless tool of each agent. */
const INPUTS = new Map<string, object>([
  ['get_goal', {}],
  ['Glob', { pattern: '*.md' }],
  ['Bash', { command: 'true', description: 'Does nothing' }],
]);

const commandLines = await openCommandLines();

let fakes: ProviderFakes;
let platform: Platform;
let agents: CodingAgents;

beforeAll(async () => {
  fakes = await ProviderFakes.start(INPUTS);
  platform = await Platform.start({ models: fakes.models(), env: fakes.secrets() });
  agents = await CodingAgents.open(commandLines, platform, await platform.account('10.00'));
});
afterAll(async () => {
  await agents?.close();
  await platform?.stop();
  await fakes?.close();
});

describe.each(KINDS)('unmodified coding agents on a model of the kind %s', (kind) => {
  it.each(['codex', 'claude'] as const)(
    '%s completes a task with a tool that the model calls',
    async (agent) => {
      fakes.completed.clear();
      const { stdout, code } = await agents[agent](
        `by-${kind}`,
        'List the files, then say that you are done',
      );
      expect([code, stdout]).toEqual([0, expect.stringContaining(doneBy(kind))]);
      expect([...fakes.completed]).toEqual([kind]);
    },
    RUN_MS,
  );
});

it('their requests are charged', async () => {
  expect((await platform.audit()).body).toMatchObject({ ok: true });
});
