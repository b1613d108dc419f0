// Events that consumers could not read: `npm run dead-letters -- list` shows them, `npm run dead-letters --
// replay` publishes them again. Reads KAFKA_BROKERS, or DATABASE_URL of a single process. A topic may follow,
// such as usage.recorded.v1.
import { EVENTS } from '@svc/contracts/messages';
import { deadLettersConfig, openDeadLetters } from '@svc/events';
import { loadConfig } from '@svc/runtime';

const USAGE = 'dead-letters list|replay [TOPIC]';
/** Maximum length of an event in the list. */
const CHARS = 300;

const SHOW = {
  async list(letters, event) {
    const { topic, readable, unreadable } = await letters.list(event);
    console.log(`${topic}: ${readable.length} can be replayed, ${unreadable.length} unreadable`);
    for (const { key, payload } of unreadable) console.log(`  ${key} ${payload.slice(0, CHARS)}`);
  },
  async replay(letters, event) {
    const { topic, published, unreadable } = await letters.replay(event);
    console.log(`${topic}: ${published} replayed, ${unreadable} left because this version cannot read them`);
  },
};

const [command, topic] = process.argv.slice(2);
const events = EVENTS.filter((event) => topic === undefined || event.topic === topic);
try {
  if (!Object.hasOwn(SHOW, command ?? '')) throw new Error(USAGE);
  if (events.length === 0)
    throw new Error(`Unknown topic ${topic}. Topics: ${EVENTS.map((event) => event.topic).join(', ')}`);
  const letters = await openDeadLetters(loadConfig(deadLettersConfig, process.env));
  try {
    for (const event of events) await SHOW[command](letters, event);
  } finally {
    await letters.close();
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
