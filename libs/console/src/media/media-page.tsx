import type { ModelView } from '@svc/api/models';
import { call } from '../api/client.js';
import { useResource } from '../ui/resource.js';
import { Empty, Loaded } from '../ui/states.js';
import { makeImage, makeMusic, makeSpeech, makeVideo } from './make.js';
import { Maker, type MediumKind } from './maker.js';
import { MusicFields, VideoFields, VoiceFields } from './option-fields.js';

const KINDS: readonly MediumKind[] = [
  {
    title: 'Images',
    label: 'What the image shows',
    type: 'image',
    make: makeImage,
    show: ({ url }, prompt) => <img class="picture" src={url} alt={prompt} />,
  },
  {
    title: 'Speech',
    label: 'What is said',
    type: 'tts',
    fields: VoiceFields,
    make: makeSpeech,
    show: ({ url }, prompt) => <audio controls src={url} aria-label={prompt} />,
  },
  {
    title: 'Videos',
    label: 'What the video shows',
    type: 'video',
    fields: VideoFields,
    make: makeVideo,
    quote: async ({ model, options }, signal) => {
      const body = { model, duration: '', ...options };
      return (await call('POST', '/api/v1/video/quote', { body, signal })).quote;
    },
    show: ({ url }, prompt) => <video class="picture" controls src={url} aria-label={prompt} />,
  },
  {
    title: 'Music',
    label: 'How it sounds',
    type: 'music',
    fields: MusicFields,
    make: makeMusic,
    quote: async ({ model, prompt, options }, signal) => {
      const characters = prompt.length + String(options['lyrics_prompt'] ?? '').length;
      const body = { model, ...options, character_count: characters };
      return (await call('POST', '/api/v1/audio/quote', { body, signal })).quote;
    },
    show: ({ url }, prompt) => <audio controls src={url} aria-label={prompt} />,
  },
];

async function loadModels(signal: AbortSignal): Promise<ModelView[]> {
  const { data } = await call('GET', '/api/v1/models', { query: { type: 'all' }, signal });
  return data.flatMap((model) => ('model_spec' in model && !model.model_spec.offline ? [model] : []));
}

function Makers({ models }: { readonly models: readonly ModelView[] }) {
  const offered = KINDS.map((kind) => ({ kind, models: models.filter(({ type }) => type === kind.type) }));
  const present = offered.filter((each) => each.models.length > 0);
  if (present.length === 0)
    return (
      <div class="card">
        <Empty title="No models for media">
          <span>This service offers no models for images, speech, videos or music at the moment.</span>
        </Empty>
      </div>
    );
  return (
    <div class="halves">
      {present.map((each) => (
        <Maker key={each.kind.title} {...each} />
      ))}
    </div>
  );
}

/** Images, speech, videos and music. They are kept only in this browser, until the page is loaded again. */
export function MediaPage() {
  const models = useResource(loadModels, []);
  return (
    <Loaded resource={models} rows={10}>
      {(value) => <Makers models={value} />}
    </Loaded>
  );
}
