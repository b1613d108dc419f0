import type { AccountLimits } from '@svc/api/keys';
import { useState } from 'preact/hooks';
import { DeskForm } from '../desk/desk-form.js';
import { ask } from '../desk/operator.js';
import { textIn } from '../text/form-text.js';
import { useResource } from '../ui/resource.js';
import { Field } from '../ui/fields.js';
import { Loaded } from '../ui/states.js';

type ModelLimits = AccountLimits['models'][number];

interface LimitsProps {
  readonly account: { readonly id: string };
  readonly onDone: (text: string) => void;
}

const RATES = [
  ['requestsPerMinute', 'Requests per minute'],
  ['tokensPerMinute', 'Tokens per minute'],
] as const;

const numberOf = (text: string): number | undefined => (text === '' ? undefined : Number(text));

/** The limits of a form with a row of fields for each model; a row without a model is left out. */
function limitsIn(data: FormData): AccountLimits {
  const [ids, requests, tokens] = ['model', 'requestsPerMinute', 'tokensPerMinute'].map((name) =>
    data.getAll(name).map((text) => (typeof text === 'string' ? text.trim() : '')),
  );
  const models = (ids ?? []).map((model, row) => ({
    model,
    requestsPerMinute: numberOf(requests?.[row] ?? ''),
    tokensPerMinute: numberOf(tokens?.[row] ?? ''),
  }));
  return {
    concurrentRequests: numberOf(textIn(data, 'concurrentRequests')) ?? null,
    models: models.filter(({ model }) => model !== ''),
  };
}

const Row = ({ limits }: { readonly limits: ModelLimits }) => (
  <div class="fields">
    <Field label="Model">
      <input name="model" defaultValue={limits.model} placeholder="*" spellcheck={false} autocomplete="off" />
    </Field>
    {RATES.map(([name, label]) => (
      <Field key={name} label={label}>
        <input name={name} type="number" min={1} max={2_000_000_000} defaultValue={limits[name] ?? ''} />
      </Field>
    ))}
  </div>
);

const EMPTY: ModelLimits = { model: '' };

function Rows({ models }: { readonly models: readonly ModelLimits[] }) {
  const [added, setAdded] = useState(1);
  const rows = [...models, ...Array.from({ length: added }, () => EMPTY)];
  return (
    <>
      {rows.map((limits, at) => (
        <Row key={at} limits={limits} />
      ))}
      <p class="hint">
        They replace those of the tier; an empty field leaves the tier's. The model * stands for all that are
        not listed, and a row without a model is left out.
      </p>
      <div>
        <button type="button" onClick={() => setAdded(added + 1)}>
          Add a row
        </button>
      </div>
    </>
  );
}

/** Sets an account's own limits in place of those of its tier. */
export function LimitsForm({ account: { id }, onDone }: LimitsProps) {
  const params = { id };
  const limits = useResource(
    (signal) => ask('GET', '/operator/v1/accounts/:id/limits', { params, signal }),
    [id],
  );
  return (
    <Loaded resource={limits} rows={6}>
      {({ concurrentRequests, models }) => (
        <DeskForm
          action="Set the limits"
          onSubmit={async (data) => {
            await ask('PUT', '/operator/v1/accounts/:id/limits', { params, body: limitsIn(data) });
            onDone('The limits are set');
          }}
        >
          {(faults) => (
            <>
              <Field label="Requests at once" hint="Empty for the default of the service">
                <input
                  name="concurrentRequests"
                  type="number"
                  min={1}
                  max={1_000_000}
                  defaultValue={concurrentRequests ?? ''}
                  autofocus
                />
              </Field>
              <Rows models={models} />
              {[...faults].map(([name, problem]) => (
                <p key={name} class="problem">
                  {name === 'models' ? 'The list of models' : 'Requests at once'} {problem}
                </p>
              ))}
            </>
          )}
        </DeskForm>
      )}
    </Loaded>
  );
}
