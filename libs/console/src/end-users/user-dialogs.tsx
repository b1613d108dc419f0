import type { ApiKeyView } from '@svc/api/keys';
import { useState } from 'preact/hooks';
import { call } from '../api/client.js';
import type { ReplyAt } from '../api/routes.js';
import { numberIn } from '../text/form-text.js';
import { PERIODS } from '../text/limits.js';
import { useAction } from '../ui/action.js';
import { announce } from '../ui/announce.js';
import { Dialog } from '../ui/dialog.js';
import { Field, Select } from '../ui/fields.js';
import { useResource } from '../ui/resource.js';
import { ErrorNote, Loaded } from '../ui/states.js';

const LIMITS = '/api/v1/end_users/:user/limits';

/** Each end user without limits of its own. */
export const ALL_OTHERS = '*';

const PERIOD_OPTIONS = (['HOUR', 'EPOCH', 'WEEK', 'MONTH', 'LIFETIME'] as const).map(
  (name) => [name, name === 'LIFETIME' ? 'In all' : PERIODS[name].label] as const,
);

const COUNTS = [
  ['requestsPerMinute', 'Requests per minute'],
  ['tokensPerMinute', 'Tokens per minute'],
  ['requestsPerDay', 'Requests per day (UTC)'],
  ['tokensPerDay', 'Tokens per day (UTC)'],
] as const;

type CurrentLimits = ReplyAt<'GET', typeof LIMITS>['data'];

interface UserDialogProps {
  readonly user: string;
  readonly onClose: () => void;
}

interface LimitsFormProps extends UserDialogProps {
  readonly current: CurrentLimits;
}

function LimitsForm({ user, current, onClose }: LimitsFormProps) {
  const [limitPeriod, setPeriod] = useState<ApiKeyView['limitPeriod']>(current?.limitPeriod ?? 'EPOCH');
  const params = { user };
  const { error, isBusy, run } = useAction(async (data: FormData) => {
    const counts = COUNTS.map(([name]) => [name, numberIn(data, name)] as const);
    const consumptionLimit = { usd: numberIn(data, 'usd'), diem: numberIn(data, 'diem') };
    const body = {
      consumptionLimit,
      limitPeriod,
      ...Object.fromEntries(counts.filter(([, n]) => n !== null)),
    };
    await call('PUT', LIMITS, { params, body });
    announce('The limits are set');
    onClose();
  });
  const removal = useAction(async () => {
    await call('DELETE', LIMITS, { params });
    announce('The limits are removed');
    onClose();
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void run(new FormData(event.currentTarget));
      }}
    >
      <div class="fields">
        {(['usd', 'diem'] as const).map((name) => (
          <Field key={name} label={`Limit in ${name.toUpperCase()}`} hint="Empty: none">
            <input
              name={name}
              type="number"
              min="0"
              max="9999999999"
              step="any"
              defaultValue={current?.consumptionLimit[name] ?? ''}
            />
          </Field>
        ))}
        <Select label="Within a" value={limitPeriod} options={PERIOD_OPTIONS} onChange={setPeriod} />
      </div>
      <div class="fields">
        {COUNTS.map(([name, label]) => (
          <Field key={name} label={label} hint="For all models together">
            <input name={name} type="number" min="1" step="1" defaultValue={current?.[name] ?? ''} />
          </Field>
        ))}
      </div>
      {(error ?? removal.error) && <ErrorNote error={(error ?? removal.error) as Error} />}
      <div class="row end">
        {current && (
          <button type="button" disabled={removal.isBusy} onClick={() => void removal.run()}>
            Remove them
          </button>
        )}
        <button class="primary" disabled={isBusy}>
          Set
        </button>
      </div>
    </form>
  );
}

/** The limits of an end user. */
export function UserLimits({ user, onClose }: UserDialogProps) {
  const limits = useResource(
    async (signal) => ({ current: (await call('GET', LIMITS, { params: { user }, signal })).data }),
    [],
  );
  const title = user === ALL_OTHERS ? 'Limits of each user without its own' : 'Limits of a user';
  return (
    <Dialog title={title} atSide onClose={onClose}>
      {user !== ALL_OTHERS && <p class="mono words">{user}</p>}
      <p class="muted">They are within those of the account and of the key.</p>
      <Loaded resource={limits} rows={6}>
        {({ current }) => <LimitsForm user={user} current={current} onClose={onClose} />}
      </Loaded>
    </Dialog>
  );
}

/** Asks before an end user is forgotten. */
export function Forgetting({ user, onClose }: UserDialogProps) {
  const { error, isBusy, run } = useAction(async () => {
    const { data } = await call('DELETE', '/api/v1/end_users/:user', { params: { user } });
    announce(
      data.requests === 1 ? 'One request is nobody’s now' : `${data.requests} requests are nobody’s now`,
    );
    onClose();
  });
  return (
    <Dialog title="Forget the user?" onClose={onClose}>
      <p class="mono words">{user}</p>
      <p class="words">
        The charges stay, but nobody can see any more whose they were, and what the user has spent counts no
        more. Its limits stay until you remove them.
      </p>
      {error && <ErrorNote error={error} />}
      <div class="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={isBusy} onClick={() => void run()}>
          Forget
        </button>
      </div>
    </Dialog>
  );
}
