import type { ImageModelView, ModelView, SpeechModelView } from '@svc/api/models';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { call, send } from '../api/client.js';
import { choices } from '../shell/navigation.js';
import { textIn } from '../text/form-text.js';
import { usdNine } from '../text/format.js';
import { announceAloud } from '../ui/announce.js';
import { Field, Select } from '../ui/fields.js';
import { useResource } from '../ui/resource.js';
import { Empty, ErrorNote, Loaded } from '../ui/states.js';

/** Something that a model has made, as the address of a blob of this page. */
interface MadeMedium {
  readonly url: string;
  readonly prompt: string;
  readonly cost?: number;
}

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

async function makeImage(model: string, prompt: string): Promise<MadeMedium> {
  const body = { model, prompt, response_format: 'b64_json' as const };
  const { data, output_format: format, cost } = await call('POST', '/api/v1/images/generations', { body });
  const blob = new Blob([bytesOf(data[0]?.b64_json ?? '')], { type: `image/${format}` });
  return { url: URL.createObjectURL(blob), prompt, cost: cost.usd };
}

async function makeSpeech(model: string, prompt: string): Promise<MadeMedium> {
  const response = await send('POST', '/api/v1/audio/speech', { body: { model, input: prompt } });
  return { url: URL.createObjectURL(await response.blob()), prompt };
}

interface MakerProps {
  readonly title: string;
  readonly label: string;
  readonly models: readonly (ImageModelView | SpeechModelView)[];
  readonly make: (model: string, prompt: string) => Promise<MadeMedium>;
  readonly show: (made: MadeMedium) => ComponentChildren;
}

/** A form for one kind of media, and what was made with it, newest first. */
function Maker({ title, label, models, make, show }: MakerProps) {
  const wanted = models.find(({ id }) => id === choices.value.get('model')) ?? models[0];
  const [model, setModel] = useState(wanted?.id ?? '');
  const [made, setMade] = useState<readonly MadeMedium[]>([]);
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (prompt: string) => {
    setBusy(true);
    announceAloud('');
    setError(undefined);
    try {
      const next = await make(model, prompt);
      setMade((before) => [next, ...before]);
      announceAloud(`${title}: ready`);
    } catch (cause) {
      setError(cause as Error);
    }
    setBusy(false);
  };
  return (
    <section class="card stack" aria-label={title}>
      <h2>{title}</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(textIn(new FormData(event.currentTarget), 'prompt'));
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
        <div class="row end">
          <button class="primary" disabled={isBusy}>
            {isBusy ? 'Making…' : 'Make'}
          </button>
        </div>
      </form>
      {error && <ErrorNote error={error} />}
      <div class="stack" aria-busy={isBusy}>
        {made.map((one) => (
          <figure key={one.url} class="stack">
            {show(one)}
            <figcaption class="hint">
              {one.prompt}
              {one.cost !== undefined && ` · ${usdNine(one.cost)}`}
            </figcaption>
          </figure>
        ))}
      </div>
    </section>
  );
}

async function loadModels(signal: AbortSignal): Promise<ModelView[]> {
  const { data } = await call('GET', '/api/v1/models', { query: { type: 'all' }, signal });
  return data.flatMap((model) => ('model_spec' in model && !model.model_spec.offline ? [model] : []));
}

function Makers({ models }: { readonly models: readonly ModelView[] }) {
  const images = models.filter((model) => model.type === 'image');
  const voices = models.filter((model) => model.type === 'tts');
  if (images.length === 0 && voices.length === 0)
    return (
      <div class="card">
        <Empty title="No models for media">
          <span>This service offers no models for images or speech at the moment.</span>
        </Empty>
      </div>
    );
  return (
    <div class="halves">
      {images.length > 0 && (
        <Maker
          title="Images"
          label="What the image shows"
          models={images}
          make={makeImage}
          show={({ url, prompt }) => <img class="picture" src={url} alt={prompt} />}
        />
      )}
      {voices.length > 0 && (
        <Maker
          title="Speech"
          label="What is said"
          models={voices}
          make={makeSpeech}
          show={({ url, prompt }) => <audio controls src={url} aria-label={prompt} />}
        />
      )}
    </div>
  );
}

/** Images and speech. They are kept only in this page. */
export function MediaPage() {
  const models = useResource(loadModels, []);
  return (
    <Loaded resource={models} rows={10}>
      {(value) => <Makers models={value} />}
    </Loaded>
  );
}
