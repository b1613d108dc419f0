import type { ApiKeyView } from '@svc/api/keys';
import { useState } from 'preact/hooks';
import { call } from '../api/client.js';
import { textIn } from '../text/form-text.js';
import { diem, usd } from '../text/format.js';
import { PERIODS } from '../text/limits.js';
import { useAction } from '../ui/action.js';
import { announce } from '../ui/announce.js';
import { DataTable } from '../ui/data-table.js';
import { Dialog } from '../ui/dialog.js';
import { Field, Segments, Select } from '../ui/fields.js';
import { useResource } from '../ui/resource.js';
import { Empty, ErrorNote, Loaded } from '../ui/states.js';
import { type AccountAlert, addAlert, listAlerts, removeAlert } from './webhook-calls.js';

const amountOf = ({ currency, amount }: AccountAlert): string =>
  currency === 'USD' ? usd(amount) : diem(amount);

const nameOf = ({ description, last6Chars }: ApiKeyView): string => `${description} ···${last6Chars}`;

/** When an alert happens. */
function textOf(alert: AccountAlert, keys: readonly ApiKeyView[]): string {
  if (alert.type === 'balance.low') return `The balance falls below ${amountOf(alert)}`;
  const spent = `has spent ${amountOf(alert)} ${PERIODS[alert.period].each}`;
  if (alert.type === 'end_user.spend_threshold') return `The user ${alert.endUser} ${spent}`;
  const spender = keys.find(({ id }) => id === alert.keyId);
  const key = spender ? nameOf(spender) : 'A key that has ended';
  return `${key} ${spent}`;
}

const CURRENCIES = [
  ['USD', 'USD'],
  ['DIEM', 'DIEM'],
] as const;
const TYPES = [
  ['balance.low', 'A low balance'],
  ['key.spend_threshold', 'What a key spends'],
  ['end_user.spend_threshold', 'What a user spends'],
] as const;
const ALERT_PERIODS = ['EPOCH', 'WEEK', 'MONTH', 'LIFETIME'] as const;
const PERIOD_OPTIONS = ALERT_PERIODS.map((name) => [name, PERIODS[name].label] as const);

interface AlertFormProps {
  readonly keys: readonly ApiKeyView[];
  readonly onDone: () => void;
}

function AlertForm({ keys, onDone }: AlertFormProps) {
  const [type, setType] = useState<AccountAlert['type']>('balance.low');
  const [currency, setCurrency] = useState<AccountAlert['currency']>('USD');
  const [period, setPeriod] = useState<(typeof ALERT_PERIODS)[number]>('MONTH');
  const [keyId, setKeyId] = useState(keys[0]?.id ?? '');
  const { error, isBusy, run } = useAction(async (data: FormData) => {
    const terms = { currency, amount: Number(textIn(data, 'amount')) };
    if (type === 'balance.low') await addAlert({ type, ...terms });
    else if (type === 'key.spend_threshold') await addAlert({ type, keyId, period, ...terms });
    else await addAlert({ type, endUser: textIn(data, 'endUser'), period, ...terms });
    announce('Saved');
    onDone();
  });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void run(new FormData(event.currentTarget));
      }}
    >
      <Segments label="Of what" value={type} options={TYPES} onChange={setType} />
      {type !== 'balance.low' && (
        <div class="fields">
          {type === 'key.spend_threshold' ? (
            <Select
              label="Key"
              value={keyId}
              options={keys.map((key) => [key.id, nameOf(key)] as const)}
              onChange={setKeyId}
            />
          ) : (
            <Field label="User, as in requests">
              <input name="endUser" maxLength={512} required />
            </Field>
          )}
          <Select label="Within a" value={period} options={PERIOD_OPTIONS} onChange={setPeriod} />
        </div>
      )}
      <div class="fields">
        <Field label="Amount">
          <input name="amount" type="number" min="0.000000001" max="9000000000" step="any" required />
        </Field>
        <Select label="Currency" value={currency} options={CURRENCIES} onChange={setCurrency} />
      </div>
      {error && <ErrorNote error={error} />}
      <div class="row end">
        <button class="primary" disabled={isBusy}>
          Add
        </button>
      </div>
    </form>
  );
}

/** The amounts of which endpoints are notified. */
export function AlertsSection() {
  const [isAdding, setAdding] = useState(false);
  const loaded = useResource(async (signal) => {
    const [alerts, { data: keys }] = await Promise.all([
      listAlerts(signal),
      call('GET', '/api/v1/api_keys', { signal }),
    ]);
    return { alerts, keys };
  }, []);
  const { error, run } = useAction(
    async (alert: AccountAlert) => {
      await removeAlert(alert);
      announce('Removed');
      loaded.reload();
    },
    { isRepeatable: true },
  );
  const close = () => {
    setAdding(false);
    loaded.reload();
  };
  const { keys = [] } = loaded.value ?? {};
  return (
    <section class="card" aria-label="Alerts">
      <div class="row spread">
        <h2>Alerts</h2>
        <button type="button" onClick={() => setAdding(true)}>
          Add an alert
        </button>
      </div>
      {error && <ErrorNote error={error} />}
      <Loaded resource={loaded} rows={2}>
        {({ alerts }) =>
          alerts.length === 0 ? (
            <Empty title="No alerts">
              <span>Add one for a low balance, or for what a key or a user spends.</span>
            </Empty>
          ) : (
            <DataTable
              caption="Alerts"
              rows={alerts}
              keyOf={(alert) => textOf(alert, keys)}
              columns={[
                { title: 'When', cell: (alert) => textOf(alert, keys) },
                {
                  title: 'Action',
                  cell: (alert) => (
                    <button
                      type="button"
                      class="small"
                      aria-label={`Remove: ${textOf(alert, keys)}`}
                      onClick={() => void run(alert)}
                    >
                      Remove
                    </button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {isAdding && (
        <Dialog title="Add an alert" atSide onClose={() => setAdding(false)}>
          <AlertForm keys={keys} onDone={close} />
        </Dialog>
      )}
    </section>
  );
}
