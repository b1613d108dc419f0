import { useState } from 'preact/hooks';
import { CallError } from '../api/call-error.js';
import type { ReplyAt } from '../api/routes.js';
import { ask } from '../desk/operator.js';
import { addressOfPage, choices, choose } from '../shell/navigation.js';
import { textIn } from '../text/form-text.js';
import { duration } from '../text/format.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { ChargeView } from './charge-view.js';
import { HoldView, type RequestHold } from './hold-view.js';

export type SoughtRequest = ReplyAt<'GET', '/operator/v1/requests/:requestId'>;
type Failure = NonNullable<SoughtRequest['failure']>;

const Search = () => (
  <form
    class="filters"
    role="search"
    onSubmit={(event) => {
      event.preventDefault();
      const data = new FormData(event.currentTarget);
      choose({ id: textIn(data, 'id'), account: textIn(data, 'account') });
    }}
  >
    <label class="field wide">
      <span>Request id</span>
      <input
        name="id"
        type="search"
        key={choices.value.get('id')}
        defaultValue={choices.value.get('id') ?? ''}
        placeholder="chatcmpl-…"
        required
      />
    </label>
    <label class="field wide">
      <span>Account, if it is under way</span>
      <input
        name="account"
        type="search"
        key={choices.value.get('account')}
        defaultValue={choices.value.get('account') ?? ''}
      />
    </label>
    <button class="primary">Find</button>
  </form>
);

const FailureView = ({ failure }: { readonly failure: Failure }) => (
  <section class="card stack" aria-label="Failure">
    <h2>Why it failed</h2>
    <dl class="facts">
      <dt>Ended</dt>
      <dd>
        <Time at={failure.at} form="second" /> UTC, after {duration(failure.durationMs)}
      </dd>
      <dt>Status</dt>
      <dd>
        {failure.status} {failure.code}
        {failure.ended !== null && ` (${failure.ended})`}
      </dd>
      <dt>Route</dt>
      <dd class="mono">{failure.route}</dd>
      {failure.model !== null && (
        <>
          <dt>Model</dt>
          <dd>{failure.model}</dd>
        </>
      )}
      {failure.accountId !== null && (
        <>
          <dt>Account</dt>
          <dd>
            <a class="mono" href={addressOfPage('', { id: failure.accountId })}>
              {failure.accountId}
            </a>
          </dd>
        </>
      )}
    </dl>
  </section>
);

const OUTCOMES = {
  charged: ['good', 'charged'],
  refused: ['warn', 'refused'],
  failed: ['danger', 'failed'],
} as const;

interface FoundProps {
  readonly found: SoughtRequest;
  readonly onChange: () => void;
}

function Found({ found, onChange }: FoundProps) {
  const [tone, text] = OUTCOMES[found.outcome];
  return (
    <div class="stack">
      <p class="row">
        <span class="mono">{found.requestId}</span> <span class={`badge ${tone}`}>{text}</span>
      </p>
      {found.failure && <FailureView failure={found.failure} />}
      {found.charge && <ChargeView charge={found.charge} onChange={onChange} />}
    </div>
  );
}

/** A request that has ended; null for an id that no known request has. */
async function findEnded(requestId: string, signal: AbortSignal): Promise<SoughtRequest | null> {
  try {
    return await ask('GET', '/operator/v1/requests/:requestId', { params: { requestId }, signal });
  } catch (error) {
    if (error instanceof CallError && error.code === 'REQUEST_NOT_FOUND') return null;
    throw error;
  }
}

interface Sought {
  readonly id: string;
  /** Empty if it is not known. Requests under way are found by their account. */
  readonly account: string;
}

interface FoundRequest {
  readonly ended: SoughtRequest | null;
  readonly hold: RequestHold | undefined;
}

async function find({ id, account }: Sought, signal: AbortSignal): Promise<FoundRequest> {
  const ended = await findEnded(id, signal);
  if (ended || account === '') return { ended, hold: undefined };
  const { data } = await ask('GET', '/operator/v1/accounts/:id/holds', { params: { id: account }, signal });
  const hold = data.find(({ requestId }) => requestId === id);
  // It may have ended between the two.
  return { ended: hold ? null : await findEnded(id, signal), hold };
}

const NotFound = ({ account }: Pick<Sought, 'account'>) => (
  <Empty title="No such request">
    <span>
      It cost nothing and was neither refused nor failed in the last 30 days
      {account === '' ? ', or it is still under way: then its account shows what it holds.' : '.'}
    </span>
  </Empty>
);

function Result({ id, account }: Sought) {
  const [changes, setChanges] = useState(0);
  const request = useResource((signal) => find({ id, account }, signal), [id, account, changes]);
  const again = () => setChanges((before) => before + 1);
  return (
    <Loaded resource={request} rows={8}>
      {({ ended, hold }) =>
        ended ? (
          <Found found={ended} onChange={again} />
        ) : hold ? (
          <HoldView hold={hold} accountId={account} onLook={again} />
        ) : (
          <NotFound account={account} />
        )
      }
    </Loaded>
  );
}

/** A request by its id, whatever its outcome. */
export function LookupPage() {
  const id = choices.value.get('id') ?? '';
  const account = choices.value.get('account') ?? '';
  return (
    <>
      <p class="muted">
        Every response has the id in its header <code>x-request-id</code>; that of a completion is also its{' '}
        <code>id</code>.
      </p>
      <Search />
      {id !== '' && <Result key={`${id} ${account}`} id={id} account={account} />}
    </>
  );
}
