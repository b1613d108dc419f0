import Runner from 'kafkajs/src/consumer/runner.js';

const runner = Runner.prototype;
const { fetch } = runner;
/**
 * A stopped consumer returns empty fetches, which kafkajs treats as "fetch again". If the set of brokers
 * changes while it stops, fetch loops for new brokers start after the stop, and repeat in the same turn of
 * the event loop forever. An error ends them.
 */
async function whileRunning(
  this: typeof runner,
  nodeId: Parameters<typeof fetch>[0],
): Promise<readonly unknown[]> {
  if (!this.running) throw new Error('the consumer has stopped');
  return fetch.call(this, nodeId);
}
runner.fetch = whileRunning;
