import { SECONDS } from '../metrics/boundaries.js';
import { Gauge, Histogram } from '../metrics/metrics.js';

/** The dependencies of a process: databases, and other processes of the deployment. */
export const neighbours = {
  database: new Histogram(
    {
      name: 'db.client.operation.duration',
      unit: 's',
      help: 'Duration of calls to PostgreSQL and Redis.',
      labels: ['db.system.name', 'db.operation.name', 'error.type'],
    },
    SECONDS.database,
  ),
  connections: new Gauge({
    name: 'db.client.connection.count',
    unit: '{connection}',
    help: 'Connections of a pool by state: used, idle.',
    labels: ['db.client.connection.pool.name', 'db.client.connection.state'],
    addsUp: true,
  }),
  connectionsMax: new Gauge({
    name: 'db.client.connection.max',
    unit: '{connection}',
    help: 'The maximum number of connections of a pool.',
    labels: ['db.client.connection.pool.name'],
    addsUp: true,
  }),
  connectionsPending: new Gauge({
    name: 'db.client.connection.pending_requests',
    unit: '{request}',
    help: 'Operations that wait for a connection of a pool.',
    labels: ['db.client.connection.pool.name'],
    addsUp: true,
  }),
  redisUp: new Gauge({
    name: 'svc.redis.up',
    unit: '1',
    help: '1 if the connection to Redis is up, otherwise 0.',
    labels: ['svc.connection'],
  }),
  calls: new Histogram(
    {
      name: 'http.client.request.duration',
      unit: 's',
      help: 'Duration of calls to other processes of the deployment.',
      labels: ['url.template', 'error.type'],
    },
    SECONDS.call,
  ),
  resting: new Gauge({
    name: 'svc.neighbour.resting',
    unit: '1',
    help: '1 if an address gets no calls because it failed or missed a heartbeat, otherwise 0.',
    labels: ['server.address'],
  }),
  callsInFlight: new Gauge({
    name: 'svc.neighbour.calls',
    unit: '{call}',
    help: 'Calls to an address that are running or wait for a connection.',
    labels: ['server.address', 'svc.call.state'],
  }),
};
