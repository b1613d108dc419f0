import { setImmediate as turn } from 'node:timers/promises';
import { logLevel } from 'kafkajs';
import createFetching from 'kafkajs/src/consumer/fetchManager.js';
import Runner from 'kafkajs/src/consumer/runner.js';
import { createLogger } from 'kafkajs/src/loggers/index.js';
import { expect, it } from 'vitest';
import { silentLog } from './kafka-client.js';
import './stopped-runner.js';

const stopped = Object.assign(Object.create(Runner.prototype) as typeof Runner.prototype, {
  logger: createLogger({ level: logLevel.NOTHING, logCreator: silentLog }),
  consumerGroup: {},
  running: false,
});

it('a consumer stopped while the set of brokers changes does stop, without blocking the event loop', async () => {
  let nodes = [1];
  let fetches = 0;
  const fetching = createFetching({
    logger: createLogger({ level: logLevel.NOTHING, logCreator: silentLog }),
    getNodeIds: () => nodes,
    handler: () => Promise.resolve(),
    fetch: async (node) => {
      fetches += 1;
      // Without the fix, it would fetch forever within this turn.
      if (fetches > 1_000) throw new Error('asked again and again');
      // The first fetch is under way when the consumer is stopped, and another broker has joined.
      if (fetches === 1) {
        await turn();
        return [];
      }
      return stopped.fetch(node);
    },
  });
  const ended = fetching.start();
  nodes = [1, 2];
  await expect(ended).rejects.toThrow('the consumer has stopped');
});
