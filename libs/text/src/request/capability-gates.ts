import type { Model } from '@svc/catalog';
import type { ChatRequest, ContentPart } from '@svc/api/chat';
import { type Issue, invalidRequest } from '@svc/contracts/problems';

/** The most parts of each type in one message. */
const PER_MESSAGE = { image_url: 10, input_audio: 5, file: 5 } as const;

const VIDEOS_PER_REQUEST = 3;

/** Prompt caches accept at most this number of marks. */
const CACHE_MARKS_PER_REQUEST = 4;

type Capability = keyof Model['capabilities'];

/** A capability, the field that needs it, and whether a request uses that field. */
interface Gate {
  readonly capability: Capability;
  readonly field: string;
  readonly isUsed: (request: ChatRequest) => boolean;
}

const GATES: readonly Gate[] = [
  {
    capability: 'supportsFunctionCalling',
    field: 'tools',
    isUsed: ({ tools }) => tools !== undefined && tools !== null && tools.length > 0,
  },
  {
    capability: 'supportsFunctionCalling',
    field: 'tool_choice',
    isUsed: ({ tool_choice: choice }) =>
      choice !== undefined && choice !== null && choice !== 'none' && choice !== 'auto',
  },
  {
    capability: 'supportsFunctionCalling',
    field: 'parallel_tool_calls',
    isUsed: ({ parallel_tool_calls: parallel }) => parallel === true,
  },
  {
    capability: 'supportsResponseSchema',
    field: 'response_format',
    isUsed: ({ response_format: format }) =>
      format !== undefined && format !== null && format.type !== 'text',
  },
  { capability: 'supportsLogProbs', field: 'logprobs', isUsed: ({ logprobs }) => logprobs === true },
  {
    capability: 'supportsLogProbs',
    field: 'top_logprobs',
    isUsed: (request) => (request.top_logprobs ?? 0) > 0,
  },
];

const MEDIA: Partial<Record<ContentPart['type'], Capability>> = {
  image_url: 'supportsVision',
  input_audio: 'supportsAudioInput',
  video_url: 'supportsVideoInput',
};

/** Refuses what the model does not support, naming each field: INVALID_REQUEST. */
export function checkCapabilities(request: ChatRequest, model: Model): void {
  const issues: Issue[] = [];
  const refuse = (path: (string | number)[], message: string): void => {
    issues.push({ code: 'custom', path, message });
  };
  for (const { capability, field, isUsed } of GATES) {
    if (isUsed(request) && model.capabilities[capability] !== true)
      refuse([field], `${model.id} does not support ${field}`);
  }
  let videos = 0;
  let marks = 0;
  for (const [index, { content: parts }] of request.messages.entries()) {
    if (!Array.isArray(parts)) continue;
    videos += parts.filter(({ type }) => type === 'video_url').length;
    marks += parts.filter((part) => part.cache_control !== undefined).length;
    for (const fault of messageFaults(parts, model)) refuse(['messages', index, 'content'], fault);
  }
  if (videos > VIDEOS_PER_REQUEST) refuse(['messages'], `must contain at most ${VIDEOS_PER_REQUEST} videos`);
  if (marks > CACHE_MARKS_PER_REQUEST)
    refuse(['messages'], `must contain at most ${CACHE_MARKS_PER_REQUEST} cache_control marks`);
  if (issues.length > 0) throw invalidRequest(issues);
}

function messageFaults(parts: readonly ContentPart[], model: Model): string[] {
  const count = (type: ContentPart['type']): number => parts.filter((part) => part.type === type).length;
  const faults: string[] = [];
  for (const [type, capability] of Object.entries(MEDIA)) {
    if (parts.some((part) => part.type === type) && model.capabilities[capability] !== true) {
      faults.push(`${model.id} does not accept ${type}`);
    }
  }
  for (const [type, most] of Object.entries(PER_MESSAGE)) {
    if (count(type as ContentPart['type']) > most) faults.push(`must contain at most ${most} ${type} parts`);
  }
  const { maxImages } = model.capabilities;
  if (maxImages !== undefined && count('image_url') > maxImages)
    faults.push(`${model.id} accepts at most ${maxImages} images`);
  return faults;
}
