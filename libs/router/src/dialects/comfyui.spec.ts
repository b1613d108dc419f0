import { Backend } from '@svc/contracts/catalog';
import { COMFY_WORKFLOW } from '@svc/testing';
import { describe, expect, it } from 'vitest';

const backend = (members: object) =>
  Backend.safeParse({ kind: 'comfyui', url: 'http://127.0.0.1:8188', model: 'sd', ...members });
const without = (node: keyof typeof COMFY_WORKFLOW): object => ({ ...COMFY_WORKFLOW, [node]: undefined });
const withText = (text: unknown): object => ({
  ...COMFY_WORKFLOW,
  '7': { class_type: 'CLIPTextEncode', inputs: { text } },
});

describe('the workflow of a backend', () => {
  it('may have slots with defaults, links, and texts that only look like slots', () => {
    expect(backend({ workflow: COMFY_WORKFLOW }).success).toBe(true);
    expect(backend({ workflow: withText('costs $100, $prompt') }).success).toBe(true);
  });

  it.each([
    ['is missing', undefined, 'required for the kind comfyui'],
    ['has no seed', JSON.parse(JSON.stringify(without('3'))) as object, '$seed'],
    ['has no size', JSON.parse(JSON.stringify(without('5'))) as object, '$width'],
    ['has an unknown slot', withText('$steps_at_most'), 'unknown slot'],
    ['has an optional slot without a default', withText('$negativePrompt'), 'needs a default'],
  ])('is refused if it %s', (_, workflow, reason) => {
    expect(JSON.stringify(backend({ workflow }).error?.issues)).toContain(reason);
  });

  it('is refused for other kinds', () => {
    const other = backend({ kind: 'openai', workflow: COMFY_WORKFLOW });
    expect(other.error?.issues[0]?.path).toEqual(['workflow']);
  });
});
