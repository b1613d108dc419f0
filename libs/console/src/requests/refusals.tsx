import { call } from '../api/client.js';
import { DataTable } from '../ui/data-table.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';

const TYPES: Readonly<Record<string, string>> = {
  RPM: 'Requests per minute',
  RPD: 'Requests per day',
  TPM: 'Tokens per minute',
  FAILED_REQUESTS: 'Too many failed requests',
  UNSUPPORTED_FEATURE_REQUESTS: 'Too many requests for what a model lacks',
};

/** The last requests that a limit refused. */
export function Refusals() {
  const refusals = useResource(
    async (signal) => (await call('GET', '/api/v1/api_keys/rate_limit_logs', { signal })).data,
    [],
  );
  return (
    <section class="card" aria-label="Requests that a limit refused">
      <Loaded resource={refusals} rows={8}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No request was refused">
              <span>The last 50 requests that exceed a limit appear here.</span>
            </Empty>
          ) : (
            <DataTable
              caption="The last 50 requests that a limit refused, newest first"
              rows={rows.map((row, at) => ({ ...row, at }))}
              keyOf={({ at }) => String(at)}
              columns={[
                {
                  title: 'Time (UTC)',
                  cell: ({ timestamp }) => <Time at={timestamp} form="second" />,
                  sortBy: ({ timestamp }) => timestamp,
                },
                { title: 'Model', cell: ({ modelId }) => modelId, sortBy: ({ modelId }) => modelId },
                {
                  title: 'Limit',
                  cell: ({ rateLimitType }) => TYPES[rateLimitType] ?? rateLimitType,
                  sortBy: ({ rateLimitType }) => rateLimitType,
                },
                { title: 'Tier', cell: ({ rateLimitTier }) => rateLimitTier },
              ]}
            />
          )
        }
      </Loaded>
    </section>
  );
}
