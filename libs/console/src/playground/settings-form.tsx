import type { TextModelView } from '@svc/api/models';
import { Field, Select } from '../ui/fields.js';
import { type Settings, toolsOf } from './conversation.js';

interface SettingsProps {
  readonly models: readonly TextModelView[];
  readonly settings: Settings;
  readonly onChange: (changes: Partial<Settings>) => void;
}

const SEARCHES = [
  ['off', 'Off'],
  ['auto', 'If it helps'],
  ['on', 'On'],
] as const;

/** The reasoning efforts of a model, if it lets requests choose one. */
const effortsOf = (model: TextModelView | undefined): readonly string[] => {
  const capabilities = model?.model_spec.capabilities;
  if (!capabilities?.supportsReasoningEffort) return [];
  return capabilities.reasoningEffortOptions ?? ['low', 'medium', 'high'];
};

const isTools = (text: string): boolean => text.trim() === '' || toolsOf(text) !== undefined;

type PartProps = Omit<SettingsProps, 'models'>;

const Sampling = ({
  model,
  settings,
  onChange,
}: PartProps & { readonly model: TextModelView | undefined }) => (
  <div class="fields">
    <Field label="Temperature">
      <input
        type="number"
        min="0"
        max="2"
        step="0.1"
        placeholder={String(model?.model_spec.constraints.temperature.default ?? '')}
        value={settings.temperature}
        onInput={(event) => onChange({ temperature: event.currentTarget.value })}
      />
    </Field>
    <Field label="Most tokens">
      <input
        type="number"
        min="1"
        step="1"
        placeholder={String(model?.model_spec.maxCompletionTokens ?? '')}
        value={settings.maxTokens}
        onInput={(event) => onChange({ maxTokens: event.currentTarget.value })}
      />
    </Field>
  </div>
);

const ToolsField = ({ settings, onChange }: PartProps) => (
  <details>
    <summary>Tools</summary>
    <Field
      label="Tools as JSON"
      hint={isTools(settings.tools) ? 'A list, as in the API' : 'Not a list in JSON, so it is not sent'}
    >
      <textarea
        class="mono"
        rows={6}
        value={settings.tools}
        spellcheck={false}
        placeholder='[{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]'
        aria-invalid={!isTools(settings.tools)}
        onInput={(event) => onChange({ tools: event.currentTarget.value })}
      />
    </Field>
  </details>
);

/** The model and its parameters. */
export function SettingsForm({ models, settings, onChange }: SettingsProps) {
  const model = models.find(({ id }) => id === settings.model);
  const { capabilities } = model?.model_spec ?? {};
  const efforts = effortsOf(model);
  return (
    <form class="stack" onSubmit={(event) => event.preventDefault()}>
      <Select
        label="Model"
        value={settings.model}
        options={models.map(({ id }) => [id, id] as const)}
        onChange={(id) => onChange({ model: id, effort: '' })}
      />
      <Field label="System prompt">
        <textarea
          rows={3}
          value={settings.system}
          onInput={(event) => onChange({ system: event.currentTarget.value })}
        />
      </Field>
      <Sampling model={model} settings={settings} onChange={onChange} />
      {efforts.length > 0 && (
        <Select
          label="Reasoning effort"
          value={settings.effort}
          options={[['', 'Default'], ...efforts.map((effort) => [effort, effort] as const)]}
          onChange={(effort) => onChange({ effort })}
        />
      )}
      {capabilities?.supportsWebSearch && (
        <Select
          label="Web search"
          value={settings.webSearch}
          options={SEARCHES}
          onChange={(webSearch) => onChange({ webSearch })}
        />
      )}
      {capabilities?.supportsFunctionCalling && <ToolsField settings={settings} onChange={onChange} />}
    </form>
  );
}
