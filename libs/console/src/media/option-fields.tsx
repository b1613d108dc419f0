import type { ModelView } from '@svc/api/models';
import { Field } from '../ui/fields.js';
import { textIn } from '../text/form-text.js';
import type { MediumOrder } from './make.js';

type Options = MediumOrder['options'];

/** What a model lets requests choose, by the names of the public interface. */
const constraintsOf = ({ type, model_spec: spec }: ModelView): Readonly<Record<string, unknown>> => {
  if (type === 'music') return spec;
  return ('constraints' in spec && spec.constraints) || {};
};

const listIn = (model: ModelView, name: string): readonly string[] => {
  const value = constraintsOf(model)[name];
  return Array.isArray(value) ? value.map(String) : [];
};

const numberIn = (model: ModelView, name: string): number | undefined => {
  const value = constraintsOf(model)[name];
  return typeof value === 'number' ? value : undefined;
};

const isSet = (model: ModelView, name: string): boolean => constraintsOf(model)[name] === true;

interface ListProps {
  readonly label: string;
  readonly name: string;
  readonly values: readonly string[];
  readonly initial?: string | undefined;
}

const List = ({ label, name, values, initial }: ListProps) =>
  values.length === 0 ? null : (
    <Field label={label}>
      <select name={name}>
        {values.map((value) => (
          <option key={value} selected={value === initial}>
            {value}
          </option>
        ))}
      </select>
    </Field>
  );

interface OptionProps {
  readonly model: ModelView;
}

export const VoiceFields = ({ model }: OptionProps) =>
  model.type === 'tts' ? (
    <List
      label="Voice"
      name="voice"
      values={model.model_spec.voices}
      initial={model.model_spec.default_voice}
    />
  ) : null;

export function VideoFields({ model }: OptionProps) {
  const kind = constraintsOf(model)['model_type'];
  return (
    <>
      <div class="fields">
        <List label="Length" name="duration" values={listIn(model, 'durations')} />
        <List label="Width to height" name="aspect_ratio" values={listIn(model, 'aspect_ratios')} />
        <List label="Resolution" name="resolution" values={listIn(model, 'resolutions')} />
      </div>
      {isSet(model, 'audio_configurable') && (
        <label class="check">
          <input type="checkbox" name="audio" defaultChecked /> With sound
        </label>
      )}
      {kind !== undefined && kind !== 'text-to-video' && (
        <Field label="Image to begin with">
          <input name="image_url" type="file" accept="image/*" required={kind === 'image-to-video'} />
        </Field>
      )}
    </>
  );
}

export function MusicFields({ model }: OptionProps) {
  const lengths = listIn(model, 'duration_options');
  const usual = numberIn(model, 'default_duration');
  return (
    <>
      {lengths.length > 0 ? (
        <List label="Length in seconds" name="duration_seconds" values={lengths} />
      ) : (
        <Field label="Length in seconds">
          <input
            name="duration_seconds"
            type="number"
            step="1"
            min={numberIn(model, 'min_duration')}
            max={numberIn(model, 'max_duration')}
            defaultValue={usual}
            required
          />
        </Field>
      )}
      {isSet(model, 'supports_lyrics') && (
        <Field label="Lyrics">
          <textarea name="lyrics_prompt" rows={3} required={isSet(model, 'lyrics_required')} />
        </Field>
      )}
      {isSet(model, 'supports_force_instrumental') && (
        <label class="check">
          <input type="checkbox" name="force_instrumental" /> Without voices
        </label>
      )}
    </>
  );
}

const dataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(new Error('The image cannot be read.')));
    reader.readAsDataURL(file);
  });

/** The options of a form by the names of the API; an empty field is left out. */
export async function optionsIn(form: HTMLFormElement): Promise<Options> {
  const data = new FormData(form);
  const options: Record<string, string | number | boolean> = {};
  for (const name of ['voice', 'duration', 'aspect_ratio', 'resolution', 'lyrics_prompt'])
    if (textIn(data, name) !== '') options[name] = textIn(data, name);
  const seconds = textIn(data, 'duration_seconds');
  if (seconds !== '') options['duration_seconds'] = Number(seconds);
  for (const box of form.querySelectorAll<HTMLInputElement>('input[type="checkbox"]'))
    options[box.name] = box.checked;
  const image = data.get('image_url');
  if (image instanceof File && image.size > 0) options['image_url'] = await dataUrl(image);
  return options;
}
