import { count, counts, readCommandLine } from './command-line.mjs';

const USAGE = `Usage: npm run bench -- [options]

  --seconds N      seconds of load per gateway and round (8)
  --rounds N       interleaved rounds, whose medians are printed (3)
  --connections N  kept-alive connections of the load (64)
  --streams N      answers streamed at once (64)
  --open-streams N instead, N streams open at once: memory of each, time to the first byte, none lost at SIGTERM
  --shape NAME     all: beside a bare proxy and another gateway (default); cluster: one process beside the cluster
  --steps          instead, the CPU time of each step of a request and of a streamed chunk
  --no-pin         leave it to the kernel which core runs what
  --quick          2 rounds of 2 s: at most a minute
  --peers NAMES    portkey (default), or all: also LiteLLM, which downloads 700 MB once
  --beside DIR     measure another built checkout of this service in the same rounds
  --profile DIR    write a CPU profile of this service to DIR; slows it down
  --json FILE      write the figures to FILE as well
`;

const DEFAULTS = { seconds: 8, rounds: 3, connections: 64, streams: 64 };
const QUICK = { ...DEFAULTS, seconds: 2, rounds: 2, streams: 32 };
const SHAPES = ['all', 'cluster'];
const PEERS = ['portkey', 'all'];
const MOST = { seconds: 60, rounds: 9, connections: 1024, streams: 1024, 'open-streams': 20_000 };

/** The settings of one run. Exits with a usage message if they are invalid. */
export const readOptions = () =>
  readCommandLine(
    USAGE,
    {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      connections: { type: 'string' },
      streams: { type: 'string' },
      'open-streams': { type: 'string' },
      pin: { type: 'boolean', default: true },
      quick: { type: 'boolean', default: false },
      steps: { type: 'boolean', default: false },
      json: { type: 'string' },
      profile: { type: 'string' },
      beside: { type: 'string' },
      shape: { type: 'string', default: 'all' },
      peers: { type: 'string', default: 'portkey' },
    },
    settingsOf,
  );

function settingsOf(values) {
  const { pin, quick, steps, json, profile, beside, shape, peers } = values;
  if (!SHAPES.includes(shape)) throw new Error(`--shape must be one of ${SHAPES.join(', ')}`);
  if (!PEERS.includes(peers)) throw new Error(`--peers must be one of ${PEERS.join(', ')}`);
  const open = values['open-streams'];
  return {
    ...counts(values, { usual: quick ? QUICK : DEFAULTS, most: MOST }),
    pin,
    quick,
    steps,
    json,
    profile,
    beside,
    shape,
    peers,
    openStreams: open === undefined ? undefined : count('open-streams', open, MOST['open-streams']),
  };
}
