import type { ModelView } from '@svc/api/models';
import { call } from '../api/client.js';
import { addressOfPage, choices, choose } from '../shell/navigation.js';
import { shortCount } from '../text/format.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { Field, Select } from '../ui/fields.js';
import { Copyable } from '../ui/copy.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { Time } from '../ui/time.js';
import { abilitiesOf, contextOf, priceTexts, pricesOf, pricingOf, unitOf } from './model-rows.js';

async function loadModels(signal: AbortSignal): Promise<ModelView[]> {
  const { data } = await call('GET', '/api/v1/models', { query: { type: 'all' }, signal });
  return data.flatMap((model) => ('model_spec' in model ? [model] : []));
}

function Name({ model }: { readonly model: ModelView }) {
  const { name, privacy, offline, betaModel, deprecation } = model.model_spec;
  return (
    <span>
      <strong>{name}</strong> {privacy === 'anonymized' && <span class="badge">anonymized</span>}{' '}
      {betaModel && <span class="badge accent">beta</span>}{' '}
      {offline && <span class="badge danger">offline</span>}
      <Copyable text={model.id} label={`Id of ${name}`} />
      {deprecation && (
        <small class="badge warn">
          deprecated <Time at={deprecation.date} form="relative" />
        </small>
      )}
    </span>
  );
}

const Prices = ({ model }: { readonly model: ModelView }) => (
  <span>
    {priceTexts(model).map((text) => (
      <span key={text}>
        {text}
        <br />
      </span>
    ))}
    <small>{unitOf(model)}</small>
  </span>
);

function Abilities({ model }: { readonly model: ModelView }) {
  const all = [...model.model_spec.traits, ...abilitiesOf(model)];
  return <small>{all.length === 0 ? '—' : all.join(' · ')}</small>;
}

/** The first price, which for most types is that of the input. */
const priceOf = (model: ModelView): number => pricesOf(pricingOf(model))[0]?.usd ?? Infinity;

const COLUMNS: readonly Column<ModelView>[] = [
  { title: 'Model', cell: (model) => <Name model={model} />, sortBy: ({ model_spec: spec }) => spec.name },
  { title: 'Type', cell: ({ type }) => type, sortBy: ({ type }) => type },
  {
    title: 'Context',
    cell: (model) => {
      const context = contextOf(model);
      return context === undefined ? '—' : shortCount(context);
    },
    sortBy: (model) => contextOf(model) ?? -1,
    isNumeric: true,
  },
  { title: 'Price', cell: (model) => <Prices model={model} />, sortBy: priceOf },
  { title: 'Can', cell: (model) => <Abilities model={model} /> },
  {
    title: 'Try',
    cell: ({ id, type }) =>
      type === 'text' ? (
        <a href={addressOfPage('playground', { model: id })}>
          Chat<span class="sr"> with {id}</span>
        </a>
      ) : type === 'image' || type === 'tts' ? (
        <a href={addressOfPage('media', { model: id })}>
          Try<span class="sr"> {id}</span>
        </a>
      ) : (
        '—'
      ),
  },
];

const optionsOf = (all: string, values: readonly string[]) => [
  ['', all] as const,
  ...[...new Set(values)].toSorted().map((value) => [value, value] as const),
];

function Catalogue({ models }: { readonly models: readonly ModelView[] }) {
  const search = choices.value;
  const [type, ability, text] = ['type', 'can', 'name'].map((name) => search.get(name) ?? '') as [
    string,
    string,
    string,
  ];
  const sought = text.toLowerCase();
  const shown = models.filter(
    (model) =>
      (type === '' || model.type === type) &&
      (ability === '' || abilitiesOf(model).includes(ability)) &&
      `${model.id} ${model.model_spec.name}`.toLowerCase().includes(sought),
  );
  return (
    <div class="stack">
      <div class="filters">
        <Field label="Name">
          <input
            type="search"
            value={text}
            onInput={(event) => choose({ name: event.currentTarget.value })}
          />
        </Field>
        <Select
          label="Type"
          value={type}
          options={optionsOf(
            'All types',
            models.map((model) => model.type),
          )}
          onChange={(value) => choose({ type: value })}
        />
        <Select
          label="Can"
          value={ability}
          options={optionsOf('Anything', models.flatMap(abilitiesOf))}
          onChange={(value) => choose({ can: value })}
        />
      </div>
      <section class="card" aria-label="Models">
        {shown.length === 0 ? (
          <Empty title="No such model">
            <span>No model has these properties.</span>
          </Empty>
        ) : (
          <DataTable caption="Models" columns={COLUMNS} rows={shown} keyOf={({ id }) => id} />
        )}
      </section>
    </div>
  );
}

/** The models of the service, with their prices and what they can do. */
export function ModelsPage() {
  const models = useResource(loadModels, []);
  return (
    <Loaded resource={models} rows={12}>
      {(value) => <Catalogue models={value} />}
    </Loaded>
  );
}
