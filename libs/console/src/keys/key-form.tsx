import type { ApiKeyView, NewApiKey } from '@svc/api/keys';
import { useState } from 'preact/hooks';
import { linesIn, numberIn, textIn } from '../text/form-text.js';
import { utcDay } from '../text/format.js';
import { PERIODS, PRIVACIES } from '../text/limits.js';
import { useAction } from '../ui/action.js';
import { Field, Segments, Select } from '../ui/fields.js';
import { FallbackFields, type Fallbacks, fallbacksOf } from '../ui/fallback-fields.js';
import { ErrorNote } from '../ui/states.js';
import { type Restrictions, RestrictionFields, restrictionsOf } from './restrictions.js';

type KeyType = ApiKeyView['apiKeyType'];

/** What the form has, as the API takes it; null means no limit. */
export type KeyFormTerms = Required<Pick<NewApiKey, 'description' | 'limitPeriod' | 'modelPrivacy'>> &
  Restrictions &
  Fallbacks & {
    readonly tags: string[];
    readonly expiresAt?: string | null;
    readonly consumptionLimit: { usd: number | null; diem: number | null };
    readonly maxCostPerRequest: number | null;
    readonly requestsPerMinute: number | null;
    readonly tokensPerMinute: number | null;
    readonly requestsPerDay: number | null;
    readonly tokensPerDay: number | null;
  };

/** The choices of the form that are not in fields of text. */
interface Choices {
  readonly type: KeyType;
  readonly expiry: 'never' | '30' | '90' | 'day' | 'kept';
  readonly period: ApiKeyView['limitPeriod'];
  readonly privacy: ApiKeyView['modelPrivacy'];
}

function expiresAtOf({ expiry }: Choices, data: FormData): Pick<KeyFormTerms, 'expiresAt'> {
  if (expiry === 'kept') return {};
  if (expiry === 'never') return { expiresAt: null };
  return { expiresAt: expiry === 'day' ? textIn(data, 'day') : utcDay(Number(expiry)) };
}

const termsOf = (choices: Choices, data: FormData): KeyFormTerms => ({
  description: textIn(data, 'description'),
  tags: linesIn(textIn(data, 'tags')),
  ...expiresAtOf(choices, data),
  consumptionLimit: { usd: numberIn(data, 'usd'), diem: numberIn(data, 'diem') },
  limitPeriod: choices.period,
  modelPrivacy: choices.privacy,
  maxCostPerRequest: numberIn(data, 'most'),
  requestsPerMinute: numberIn(data, 'rpm'),
  tokensPerMinute: numberIn(data, 'tpm'),
  requestsPerDay: numberIn(data, 'rpd'),
  tokensPerDay: numberIn(data, 'tpd'),
  ...restrictionsOf(data, choices.type === 'ADMIN'),
  ...fallbacksOf(data),
});

interface LimitFieldsProps {
  readonly current: ApiKeyView | undefined;
}

function LimitFields({ current }: LimitFieldsProps) {
  const { usd, diem } = current?.consumptionLimits ?? {};
  return (
    <>
      <div class="fields">
        <Field label="Limit in USD" hint="Empty: no limit of its own">
          <input name="usd" type="number" min="0" max="9999999999" step="any" defaultValue={usd ?? ''} />
        </Field>
        <Field label="Limit in DIEM" hint="Empty: no limit of its own">
          <input name="diem" type="number" min="0" max="9999999999" step="any" defaultValue={diem ?? ''} />
        </Field>
      </div>
      <div class="fields">
        <Field label="Most for one request" hint="In USD; DIEM counts as much">
          <input
            name="most"
            type="number"
            min="0.000000001"
            step="any"
            defaultValue={current?.maxCostPerRequest ?? ''}
          />
        </Field>
      </div>
      <div class="fields">
        <Field label="Requests per minute" hint="Within the account's limits">
          <input name="rpm" type="number" min="1" step="1" defaultValue={current?.requestsPerMinute ?? ''} />
        </Field>
        <Field label="Tokens per minute" hint="Within the account's limits">
          <input name="tpm" type="number" min="1" step="1" defaultValue={current?.tokensPerMinute ?? ''} />
        </Field>
      </div>
      <div class="fields">
        <Field label="Requests per day" hint="A day in UTC">
          <input name="rpd" type="number" min="1" step="1" defaultValue={current?.requestsPerDay ?? ''} />
        </Field>
        <Field label="Tokens per day" hint="A day in UTC">
          <input name="tpd" type="number" min="1" step="1" defaultValue={current?.tokensPerDay ?? ''} />
        </Field>
      </div>
    </>
  );
}

const TYPES = [
  ['INFERENCE', 'INFERENCE: makes requests'],
  ['ADMIN', 'ADMIN: also manages the account'],
] as const;
const EXPIRIES = [
  ['never', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['day', 'On a day'],
] as const;
const PERIOD_OPTIONS = (['HOUR', 'EPOCH', 'WEEK', 'MONTH', 'LIFETIME'] as const).map(
  (name) => [name, PERIODS[name].label] as const,
);
const PRIVACY_OPTIONS = (['ALL', 'PRIVATE_TEXT', 'PRIVATE_ONLY'] as const).map(
  (name) => [name, PRIVACIES[name]] as const,
);

interface ChoiceFieldsProps extends LimitFieldsProps {
  readonly choices: Choices;
  readonly onChange: (changes: Partial<Choices>) => void;
}

function Expiry({ current, choices, onChange }: ChoiceFieldsProps) {
  return (
    <div class="fields">
      <Select
        label="Expires"
        value={choices.expiry}
        options={current ? [['kept', 'As it is'], ...EXPIRIES] : EXPIRIES}
        onChange={(expiry) => onChange({ expiry })}
      />
      {choices.expiry === 'day' && (
        <Field label="Day" hint="At its beginning, UTC">
          <input name="day" type="date" min={utcDay(1)} required />
        </Field>
      )}
    </div>
  );
}

const Scope = ({ choices, onChange }: Omit<ChoiceFieldsProps, 'current'>) => (
  <div class="fields">
    <Select
      label="The spending limits are for"
      value={choices.period}
      options={PERIOD_OPTIONS}
      onChange={(period) => onChange({ period })}
    />
    <Select
      label="Models"
      value={choices.privacy}
      options={PRIVACY_OPTIONS}
      onChange={(privacy) => onChange({ privacy })}
    />
  </div>
);

interface KeyFormProps {
  /** The key that is changed; a new key without it. */
  readonly current?: ApiKeyView;
  readonly action: string;
  readonly onSubmit: (terms: KeyFormTerms, type: KeyType) => Promise<void>;
}

/** The terms of a key: what it is called and what it may do. */
export function KeyForm({ current, action, onSubmit }: KeyFormProps) {
  const [choices, setChoices] = useState<Choices>({
    type: current?.apiKeyType ?? 'INFERENCE',
    expiry: current ? 'kept' : 'never',
    period: current?.limitPeriod ?? 'EPOCH',
    privacy: current?.modelPrivacy ?? 'ALL',
  });
  const change = (changes: Partial<Choices>) => setChoices((before) => ({ ...before, ...changes }));
  const { error, isBusy, run } = useAction((data: FormData) =>
    onSubmit(termsOf(choices, data), choices.type),
  );
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void run(new FormData(event.currentTarget));
      }}
    >
      <Field label="Description" hint="At most 64 characters; only you see it">
        <input
          name="description"
          maxLength={64}
          required
          defaultValue={current?.description ?? ''}
          autofocus
        />
      </Field>
      <Field label="Tags" hint="At most ten, each in a line; usage can be read by tag">
        <textarea name="tags" rows={1} defaultValue={current?.tags?.join('\n') ?? ''} />
      </Field>
      {!current && (
        <Segments label="Type" value={choices.type} options={TYPES} onChange={(type) => change({ type })} />
      )}
      <Expiry current={current} choices={choices} onChange={change} />
      <LimitFields current={current} />
      <Scope choices={choices} onChange={change} />
      <RestrictionFields current={current} isAdmin={choices.type === 'ADMIN'} />
      <FallbackFields
        current={current}
        hint="Ids, tried in this order when a model of a completion fails. Empty: those of the account, if it has any"
      />
      {error && <ErrorNote error={error} />}
      <div class="row end">
        <button class="primary" disabled={isBusy}>
          {action}
        </button>
      </div>
    </form>
  );
}
