import { useState } from 'preact/hooks';
import { call } from '../api/client.js';
import { type OpenSession, signOut } from '../api/session.js';
import { announce } from '../ui/announce.js';
import { DataTable } from '../ui/data-table.js';
import { useResource } from '../ui/resource.js';
import { ErrorNote, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';

const BROWSERS = ['Edg', 'OPR', 'Firefox', 'Chrome', 'HeadlessChrome', 'Safari'] as const;
const NAMES: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', HeadlessChrome: 'Chrome' };
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS X', 'Linux'] as const;

/** `Firefox on Linux`; the whole text where neither is known. */
export function browserOf(agent: string): string {
  const browser = BROWSERS.find((name) => agent.includes(`${name}/`));
  const system = SYSTEMS.find((name) => agent.includes(name));
  if (browser === undefined) return agent === '' ? 'Unknown' : agent.slice(0, 60);
  return `${NAMES[browser] ?? browser}${system === undefined ? '' : ` on ${system}`}`;
}

const proofOf = ({ apiKey, wallet }: OpenSession): string =>
  apiKey ? `${apiKey.description} ···${apiKey.last6Chars}` : (wallet ?? 'Link');

interface EndingProps {
  readonly shown: OpenSession;
  readonly onEnd: (shown: OpenSession) => void;
}

const Ending = ({ shown, onEnd }: EndingProps) =>
  shown.isCurrent ? (
    <span class="badge good">this one</span>
  ) : (
    <button type="button" class="small" onClick={() => onEnd(shown)}>
      End<span class="sr"> the session of {browserOf(shown.agent)}</span>
    </button>
  );

interface SessionTableProps {
  readonly rows: readonly OpenSession[];
  readonly onEnd: (shown: OpenSession) => void;
}

const SessionTable = ({ rows, onEnd }: SessionTableProps) => (
  <DataTable
    caption="Open sessions"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      { title: 'Browser', cell: ({ agent }) => <span title={agent}>{browserOf(agent)}</span> },
      { title: 'Network', cell: ({ network }) => network },
      { title: 'Signed in with', cell: (row) => <span class="mono">{proofOf(row)}</span> },
      { title: 'Since', cell: ({ createdAt }) => <Time at={createdAt} form="relative" /> },
      { title: 'Last used', cell: ({ lastSeenAt }) => <Time at={lastSeenAt} form="relative" /> },
      { title: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} form="relative" /> },
      {
        title: 'Action',
        cell: (row) => <Ending shown={row} onEnd={onEnd} />,
      },
    ]}
  />
);

/** The open sessions of the account. */
export function SessionsPage() {
  const [error, setError] = useState<Error>();
  const sessions = useResource(
    async (signal) => (await call('GET', '/console/api/sessions', { signal })).data,
    [],
  );
  const end = async (action: () => Promise<unknown>, text: string) => {
    try {
      await action();
      announce(text);
      setError(undefined);
    } catch (cause) {
      setError(cause as Error);
    }
    sessions.reload();
  };
  return (
    <>
      <div class="row spread">
        <p class="muted">A session ends after an hour without use, and after twelve hours.</p>
        <div class="row">
          <button
            type="button"
            onClick={() =>
              void end(() => call('DELETE', '/console/api/sessions'), 'All other sessions have ended')
            }
          >
            End all others
          </button>
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </div>
      {error && <ErrorNote error={error} />}
      <section class="card" aria-label="Open sessions">
        <Loaded resource={sessions} rows={4}>
          {(rows) => (
            <SessionTable
              rows={rows}
              onEnd={({ id }) =>
                void end(
                  () => call('DELETE', '/console/api/sessions/:id', { params: { id } }),
                  'The session has ended',
                )
              }
            />
          )}
        </Loaded>
      </section>
    </>
  );
}
