import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../response-bodies.js';
import { type Attack, USAGE } from './backend-attacks.js';
import { FLOODS, STALLS } from './backend-floods.js';
import { CUTS, FORMS, LIES } from './backend-forms.js';
import { decent, ending, piece } from './hostile-backend.js';
import { type Outcome, type AskOptions, HostileHarness } from './harness.js';
import { doublings, growthFaults } from './growth.js';

/** Timeouts and limits of the platform in these tests; it logs what it does. */
const SETTINGS = {
  SVC_LOG_LEVEL: 'info',
  ROUTER_FIRST_CHUNK_TIMEOUT_MS: '2000',
  ROUTER_STREAM_IDLE_TIMEOUT_MS: '1000',
  ROUTER_COMPLETE_TIMEOUT_MS: '3000',
  ROUTER_STREAM_TIMEOUT_MS: '6000',
  ROUTER_COOL_DOWN_MS: '1',
  ROUTER_RESPONSE_LIMIT_BYTES: '8000000',
  ROUTER_STREAM_LIMIT_BYTES: '64000000',
};

/** Several times the sum of all these timeouts: a response that takes longer hangs. */
const HANGS_MS = 45_000;
const TEST_MS = 150_000;

/** The maximum cost of a completion of three words for a prompt of one word. */
const FAIR_USD = 0.0001;

let harness: HostileHarness;
/** An account that is too poor for a full hold of a completion that is not streamed. */
let poor: string;

beforeAll(async () => {
  harness = await HostileHarness.start({ env: SETTINGS });
  poor = await harness.open('0.02');
});

afterAll(() => harness.stop());

/** The client's result: `answer`, or the code of a problem. */
function outcomeOf({ status, text, error }: Outcome): string {
  if (error) return error.code;
  if (status !== 200) return String(status);
  return /"error":\{[^}]*"code":"(\w+)"/.exec(text)?.[1] ?? 'answer';
}

/** The results for each kind of request; `undefined` for one that hangs. */
async function answersTo({ behave, stream }: Attack): Promise<(Outcome | undefined)[]> {
  harness.backend.behave = behave;
  const ask = (body: object, options: AskOptions = {}): Promise<Outcome | undefined> =>
    harness.say('hi', body, { signal: AbortSignal.timeout(HANGS_MS), ...options }).catch(() => undefined);
  const answers: (Outcome | undefined)[] = [];
  if (stream !== false) answers.push(await ask({ stream: true, max_tokens: 1_000 }));
  // The gateway requests a stream from the backend here.
  if (stream !== false) answers.push(await ask({ max_tokens: 8_000 }, { apiKey: poor }));
  if (stream !== true) answers.push(await ask({ max_tokens: 10 }));
  return answers;
}

/** All violations. */
function faultsOf(answer: Outcome | undefined, { outcomes, says = '', hides }: Attack): string[] {
  if (!answer) return ['it never ends'];
  const outcome = outcomeOf(answer);
  if (!outcomes.some((allowed) => allowed === outcome))
    return [`it is ${outcome}: ${answer.text.slice(0, 500)}`];
  if (outcome !== 'answer') return [];
  const faults = answer.text.includes(says) ? [] : [`it does not say ${says}: ${answer.text.slice(-500)}`];
  if (hides !== undefined && answer.text.includes(hides)) faults.push(`it says ${hides}`);
  return answer.cut || !answer.cost ? [...faults, 'it has no end'] : faults;
}

async function serves(): Promise<void> {
  harness.backend.behave = decent();
  expect(outcomeOf(await harness.say('hi', { stream: true }))).toBe('answer');
}

/** Checks after the other tests of its suite. */
function leavesNothing(): void {
  it(
    'leaves no holds, correct books, no used memory, and a working service',
    { timeout: TEST_MS },
    async () => {
      await serves();
      expect(await harness.afterwards()).toEqual([]);
    },
  );
}

describe.each([
  ['floods', FLOODS],
  ['stalls', STALLS],
  ['cuts', CUTS],
  ['writes', FORMS],
])('a backend that %s', (_kind, attacks) => {
  it.each(attacks)('is survived in time: $name', { timeout: TEST_MS }, async (attack) => {
    const answers = await answersTo(attack);
    expect(answers.flatMap((answer) => faultsOf(answer, attack))).toEqual([]);
  });

  leavesNothing();
});

describe('a backend that lies about its counts', () => {
  it.each(LIES)('cannot raise or avoid the charge: $name', { timeout: TEST_MS }, async (attack) => {
    for (const answer of await answersTo(attack)) {
      expect(faultsOf(answer, attack)).toEqual([]);
      expect(answer?.cost?.usd).toBeGreaterThan(0);
      expect(answer?.cost?.usd).toBeLessThan(FAIR_USD);
    }
  });

  leavesNothing();
});

describe('an error message of a backend', () => {
  const SECRETS = /sk-live|10\.0\.0\.17|vllm-3/;
  const secretError = {
    message: 'sk-live-a1b2c3d4 at http://10.0.0.17:8000, vllm-3.internal, on "my prompt"',
  };

  it.each([400, 401, 403, 404, 413, 422, 429, 500, 502, 503])(
    'reveals no address or key to clients or logs, and no prompt to logs: %s',
    { timeout: TEST_MS },
    async (status) => {
      for (const param of ['top_k', secretError.message]) {
        harness.backend.behave = ({ response }) => {
          response.writeHead(status).end(JSON.stringify({ error: { ...secretError, param } }));
        };
        const refused = await harness.say('my prompt', { stream: true });
        expect(refused.status).toBeGreaterThanOrEqual(400);
        harness.backend.behave = ({ response }) => {
          response.end(`${piece('one ')}data: ${JSON.stringify({ error: { ...secretError, param } })}\n\n`);
        };
        const broken = await harness.say('my prompt', { stream: true });
        expect(JSON.stringify([refused, broken])).not.toMatch(SECRETS);
        const { service } = harness.platform;
        await eventually('both are logged', () =>
          [refused, broken].every(({ requestId }) => service.output.includes(requestId)),
        );
      }
      expect(harness.platform.service.output).not.toMatch(SECRETS);
      expect(harness.platform.service.output).not.toContain('my prompt');
    },
  );
});

describe('time', () => {
  it('is proportional to the length of a line, however small its pieces', { timeout: TEST_MS }, async () => {
    const faults = await growthFaults(harness.probe, doublings(3_000_000), async (size) => {
      harness.backend.behave = async ({ response }) => {
        response.write('data: {"choices":[{"index":0,"delta":{},"x":"');
        for (let at = 0; at < size; at += 1_024) {
          response.write('x'.repeat(1_024));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end(`"}]}\n\n${piece('one')}${ending(USAGE)}`);
      };
      expect(outcomeOf(await harness.say('hi', { stream: true }))).toBe('answer');
    });
    expect(faults).toEqual([]);
  });
});
