import type { ModelView } from '@svc/api/models';
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { choices } from '../shell/navigation.js';
import { textIn } from '../text/form-text.js';
import { usd, usdNine } from '../text/format.js';
import { Field, Select } from '../ui/fields.js';
import { useResource } from '../ui/resource.js';
import { ErrorNote } from '../ui/states.js';
import type { MediumOrder } from './make.js';
import { optionsIn } from './option-fields.js';
import { type WorkTimes, type MadeMedium, type ShowTimes, type Work, begin, works } from './works.js';

/** A kind of media: its form, how it is made, and how it is shown. */
export interface MediumKind {
  readonly title: string;
  readonly label: string;
  readonly type: ModelView['type'];
  readonly fields?: ComponentType<{ readonly model: ModelView }>;
  readonly make: (order: MediumOrder, report: ShowTimes) => Promise<MadeMedium>;
  /** The price of an order in USD, where it is known before. */
  readonly quote?: (order: MediumOrder, signal: AbortSignal) => Promise<number>;
  readonly show: (medium: MadeMedium, prompt: string) => ComponentChildren;
}

const Progress = ({ title, times }: { readonly title: string; readonly times: WorkTimes | undefined }) => (
  <progress
    aria-label={`${title}: being made`}
    {...(times && times.usualMs > 0 && { max: times.usualMs, value: Math.min(times.runMs, times.usualMs) })}
  />
);

function Shown({ kind, work }: { readonly kind: MediumKind; readonly work: Work }) {
  const { prompt, made, error, times } = work;
  return (
    <figure class="stack">
      {made && kind.show(made, prompt)}
      {error && <ErrorNote error={error} />}
      {!made && !error && <Progress title={kind.title} times={times} />}
      <figcaption class="hint">
        {prompt}
        {made?.costUsd !== undefined && ` · ${usdNine(made.costUsd)}`}
      </figcaption>
    </figure>
  );
}

interface PriceProps {
  readonly quote: NonNullable<MediumKind['quote']>;
  readonly order: MediumOrder;
}

/** What the order costs as it is. */
function PriceOf({ quote, order }: PriceProps) {
  const { value } = useResource((signal) => quote(order, signal), [JSON.stringify(order)]);
  return <span class="hint">{value === undefined ? ' ' : `Costs ${usd(value)}, charged at once`}</span>;
}

interface MakerProps {
  readonly kind: MediumKind;
  readonly models: readonly ModelView[];
}

/** A form for one kind of media, and what was made with it, newest first. */
export function Maker({ kind, models }: MakerProps) {
  const { title, label, fields: Fields, make, quote } = kind;
  const wanted = choices.value.get('model');
  const [model, setModel] = useState((models.find(({ id }) => id === wanted) ?? models[0])?.id ?? '');
  const [order, setOrder] = useState<MediumOrder>();
  const entry = models.find(({ id }) => id === model);
  const form = useRef<HTMLFormElement>(null);
  const look = async () => {
    if (!quote || !form.current) return;
    const { image_url: _, ...options } = await optionsIn(form.current);
    setOrder({ model, prompt: textIn(new FormData(form.current), 'prompt'), options });
  };
  useEffect(() => void look(), [model]);
  const submit = async (filled: HTMLFormElement) => {
    const prompt = textIn(new FormData(filled), 'prompt');
    const filledIn = { model, prompt, options: await optionsIn(filled) };
    await begin(title, prompt, (report) => make(filledIn, report));
  };
  return (
    <section class="card stack" aria-label={title}>
      <h2>{title}</h2>
      <form
        ref={form}
        class="stack"
        onChange={() => void look()}
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        <Select
          label="Model"
          value={model}
          options={models.map(({ id }) => [id, id] as const)}
          onChange={setModel}
        />
        <Field label={label}>
          <textarea name="prompt" rows={3} required />
        </Field>
        {Fields && entry && <Fields key={model} model={entry} />}
        <div class="row end">
          {quote && order && <PriceOf quote={quote} order={order} />}
          <button class="primary">Make</button>
        </div>
      </form>
      <div class="stack">
        {works.value
          .filter((work) => work.title === title)
          .map((work) => (
            <Shown key={work.id} kind={kind} work={work} />
          ))}
      </div>
    </section>
  );
}
