import { eventLogConformance } from './event-log.conformance.js';
import { startKafkaLog } from './kafka-log-server.js';
import { onEventsConformance } from './on-events.conformance.js';
import { onEveryProcessConformance } from './on-every-process.conformance.js';

eventLogConformance('Kafka', startKafkaLog);
onEventsConformance('Kafka', startKafkaLog);
onEveryProcessConformance('Kafka', startKafkaLog);
