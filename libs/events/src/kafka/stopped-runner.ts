import Runner from 'kafkajs/src/consumer/runner.js';

const runner = Runner.prototype;
const { fetch } = runner;
/**
 * A stopped consumer fetches nothing, which kafkajs tells those who fetch by an empty answer. Where the set of brokers
 * changes while it stops, new ones begin after the word to stop, and ask again in the same turn of the event loop, for
 * ever. An error ends them.
 */
runner.fetch = async function whileRunning(this: typeof runner, nodeId): Promise<readonly unknown[]> {
  if (!this.running) throw new Error('the consumer has stopped');
  return fetch.call(this, nodeId);
};
