import type { Metric } from '../metrics/metrics.js';
import { batches } from './batches.js';
import { events } from './events.js';
import { exporting } from './exporting.js';
import { inference } from './inference.js';
import { limits } from './limits.js';
import { money } from './money.js';
import { neighbours } from './neighbours.js';
import { mediaJobs } from './media-jobs.js';
import { notices } from './notices.js';
import { operatorFiles } from './operator-files.js';
import { payments } from './payments.js';
import { requests } from './requests.js';
import { router } from './router.js';
import { runtime } from './runtime.js';

/** Every metric, by area. Exporters, dashboards, alerts and their checks are derived from it. */
export const ROOMS = {
  requests,
  inference,
  money,
  payments,
  mediaJobs,
  batches,
  limits,
  router,
  events,
  neighbours,
  notices,
  operatorFiles,
  exporting,
  runtime,
};

export const CATALOGUE: readonly Metric[] = Object.values<Readonly<Record<string, Metric>>>(ROOMS).flatMap(
  (room) => Object.values(room),
);
