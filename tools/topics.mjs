// Creates the missing event topics on the brokers of KAFKA_BROKERS: `npm run topics`.
import { EVENTS } from '@svc/contracts/messages';
import { createTopics, kafkaConnection, topicTerms, topicsConfig } from '@svc/events';
import { loadConfig } from '@svc/runtime';

try {
  const config = loadConfig(topicsConfig, process.env);
  const made = await createTopics(kafkaConnection(config), EVENTS, topicTerms(config));
  for (const topic of made) console.log(`created ${topic}`);
  if (made.length === 0) console.log('all topics already exist');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
