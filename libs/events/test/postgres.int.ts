import { eventLogConformance } from './event-log.conformance.js';
import { onEventsConformance } from './on-events.conformance.js';
import { onEveryProcessConformance } from './on-every-process.conformance.js';
import { startPostgresLog } from './postgres-log-server.js';

eventLogConformance('PostgreSQL', startPostgresLog);
onEventsConformance('PostgreSQL', startPostgresLog);
onEveryProcessConformance('PostgreSQL', startPostgresLog);
