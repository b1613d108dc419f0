import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doublings, growthFaults } from './growth.js';
import { decent } from './hostile-backend.js';
import { Stage } from './stage.js';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.start();
  stage.backend.behave = decent();
});

afterAll(async () => {
  await stage.stop();
});

const message = (content: string): string => `{"role":"user","content":${content}}`;
const body = (members: string, content = '"hi"'): string =>
  `{"model":"able","max_tokens":1,"messages":[${message(content)}]${members}}`;
const part = (type: string, value: string): string => body('', `[{"type":"${type}","${type}":${value}}]`);

/** The service may end the connection of whoever still sends what it has refused. */
const CUT = 0;

async function statusOf(text: string): Promise<number> {
  try {
    return (await stage.ask(text)).status;
  } catch (error) {
    if (error instanceof TypeError) return CUT;
    throw error;
  }
}

interface HostileClass {
  readonly name: string;
  /** In bytes, as far as a body may go. */
  readonly largest: number;
  /** A body of about so many bytes. */
  readonly of: (size: number) => string;
  /** Units of work that it may hold the event loop for; default: 1. */
  readonly units?: number;
}

/** What goes to a backend whole is copied once, in one piece. */
const COPIED_UNITS = 2;

const CLASSES: readonly HostileClass[] = [
  {
    name: 'a model with a suffix of escapes',
    largest: 30_000_000,
    of: (size) => body('').replace('able', `able:character_slug=${'%41'.repeat(size / 3)}`),
  },
  {
    name: 'a model with a suffix of members',
    largest: 30_000_000,
    of: (size) => body('').replace('able', `able:a=1${'&a=1'.repeat(size / 4)}`),
  },
  { name: 'a model of dots', largest: 30_000_000, of: (size) => body('').replace('able', '.'.repeat(size)) },
  {
    name: 'a model of colons',
    largest: 30_000_000,
    of: (size) => body('').replace('able', ':a='.repeat(size / 3)),
  },
  {
    name: 'members of the request',
    largest: 16_000_000,
    of: (size) => body(Array.from({ length: size / 12 }, (_, at) => `,"m${at}":1`).join('')),
  },
  {
    name: 'members of the parameters of a tool',
    largest: 16_000_000,
    of: (size) =>
      body(
        `,"tools":[{"type":"function","function":{"name":"f","parameters":{${Array.from({ length: size / 12 }, (_, at) => `"p${at}":{}`).join(',')}}}}]`,
      ),
  },
  {
    name: 'messages that are none',
    largest: 16_000_000,
    of: (size) => `{"model":"able","messages":[${'0,'.repeat(size / 2)}0]}`,
  },
  {
    name: 'the names of members, the same again and again',
    largest: 400_000,
    of: (size) => body(',"Model":1'.repeat(size / 10)),
  },
  {
    name: 'an image of percent escapes',
    largest: 30_000_000,
    of: (size) => part('image_url', `{"url":"data:image/png,${'%41'.repeat(size / 3)}"}`),
  },
  {
    name: 'an image of base64',
    largest: 30_000_000,
    of: (size) => part('image_url', `{"url":"data:image/png;base64,${'A'.repeat(size)}"}`),
  },
  {
    name: 'a file of percent escapes',
    largest: 30_000_000,
    of: (size) => part('file', `{"file_data":"data:text/plain,${'%41'.repeat(size / 3)}"}`),
  },
  {
    name: 'a file of base64 with spaces',
    largest: 30_000_000,
    of: (size) => part('file', `{"file_data":"data:text/plain;base64,${'QUJD '.repeat(size / 5)}"}`),
  },
  {
    name: 'a video of base64',
    units: COPIED_UNITS,
    largest: 30_000_000,
    of: (size) =>
      part('video_url', `{"url":"data:video/mp4;base64,AAAAGGZ0eXBtcDQy${'AAAA'.repeat(size / 4)}"}`),
  },
  {
    name: 'audio of base64',
    units: COPIED_UNITS,
    largest: 30_000_000,
    of: (size) => part('input_audio', `{"data":"${'AAAA'.repeat(size / 4)}"}`),
  },
  {
    name: 'a text of quotes in escapes',
    units: COPIED_UNITS,
    largest: 16_000_000,
    of: (size) => body('', `"${'\\"'.repeat(size / 2)}"`),
  },
  {
    name: 'a text of backslashes',
    units: COPIED_UNITS,
    largest: 16_000_000,
    of: (size) => body('', `"${'\\\\'.repeat(size / 2)}"`),
  },
  {
    name: 'an unknown member of letters in escapes',
    largest: 30_000_000,
    of: (size) => body(`,"x":"${'\\u0041'.repeat(size / 6)}"`),
  },
];

describe.each(CLASSES)('$name', ({ largest, of, units: atMost = 1 }) => {
  const send = async (size: number): Promise<void> => {
    const status = await statusOf(of(size));
    expect([200, 400, 404, 413, CUT]).toContain(status);
  };

  it('take time in proportion to their size', async () => {
    expect(await growthFaults(stage.probe, doublings(largest), send)).toEqual([]);
  });

  it('hold the event loop no longer than a unit of work, or two where it is copied', async () => {
    const text = of(largest);
    let units = Number.POSITIVE_INFINITY;
    // The least of some tries is the one that was disturbed least.
    for (let attempt = 0; attempt < 5 && units >= atMost; attempt += 1)
      units = Math.min(units, await stage.probe.longestHold(() => statusOf(text)));
    expect(units).toBeLessThan(atMost);
  });
});

it('leave nothing behind', async () => {
  expect(await stage.afterwards()).toEqual([]);
});
