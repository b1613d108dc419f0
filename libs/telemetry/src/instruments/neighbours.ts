import { SECONDS } from '../cells/boundaries.js';
import { Gauge, Histogram } from '../cells/metrics.js';

/** The dependencies of a process: databases, and other processes of the deployment. */
export const neighbours = {
  database: new Histogram(
    {
      name: 'db.client.operation.duration',
      unit: 's',
      help: 'Calls to PostgreSQL and to Redis.',
      labels: ['db.system.name', 'db.operation.name', 'error.type'],
    },
    SECONDS.database,
  ),
  connections: new Gauge({
    name: 'db.client.connection.count',
    unit: '{connection}',
    help: 'Connections of a pool by state: used, idle.',
    labels: ['db.client.connection.pool.name', 'db.client.connection.state'],
  }),
  connectionsMax: new Gauge({
    name: 'db.client.connection.max',
    unit: '{connection}',
    help: 'Connections that a pool may have.',
    labels: ['db.client.connection.pool.name'],
  }),
  connectionsPending: new Gauge({
    name: 'db.client.connection.pending_requests',
    unit: '{request}',
    help: 'Who waits for a connection.',
    labels: ['db.client.connection.pool.name'],
  }),
  redisUp: new Gauge({
    name: 'svc.redis.up',
    unit: '1',
    help: 'Whether a connection to Redis stands: 1, or 0.',
    labels: ['svc.connection'],
  }),
  calls: new Histogram(
    {
      name: 'http.client.request.duration',
      unit: 's',
      help: 'Calls to other processes of the deployment.',
      labels: ['url.template', 'error.type'],
    },
    SECONDS.call,
  ),
  resting: new Gauge({
    name: 'svc.neighbour.resting',
    unit: '1',
    help: 'Whether an address is left out, since it failed or missed a heartbeat: 1, or 0.',
    labels: ['server.address'],
  }),
  callsInFlight: new Gauge({
    name: 'svc.neighbour.calls',
    unit: '{call}',
    help: 'Calls to an address: under way, or waiting for a connection.',
    labels: ['server.address', 'svc.call.state'],
  }),
};
