import type { Fields } from '@svc/contracts/inference';
import { describe, expect, it } from 'vitest';
import { BlockEvents } from './block-events.js';

const call = (index: number, text: string, name?: string): Fields => ({
  index,
  ...(name !== undefined && { id: `id${index}` }),
  function: { name, arguments: text },
});

/** The events, as `type:index` and the text of a delta. */
function written(write: (blocks: BlockEvents) => void, sealed: string[] = []): string[] {
  const blocks = new BlockEvents(() => sealed.shift());
  write(blocks);
  blocks.close();
  return blocks
    .take()
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [name, data = ''] = event.split('\n');
      const value = JSON.parse(data.slice('data: '.length)) as {
        type: string;
        index: number;
        delta?: Fields;
      };
      if (name !== `event: ${value.type}`) throw new Error(`unexpected name: ${name}`);
      const [, text] = Object.values(value.delta ?? {});
      return [`${value.type.replace('content_block_', '')}:${value.index}`, text].filter(Boolean).join(' ');
    });
}

describe('the blocks of a streamed message', () => {
  it('end before the next one begins', () => {
    const events = written((blocks) => {
      blocks.thinking('hm');
      blocks.text('a');
      blocks.text('b"\n');
      blocks.call(call(0, '', 'f'));
      blocks.call(call(0, '{}'));
      blocks.call(call(1, '{"a":1}', 'g'));
    });
    expect(events).toEqual([
      'start:0',
      'delta:0 hm',
      'stop:0',
      'start:1',
      'delta:1 a',
      'delta:1 b"\n',
      'stop:1',
      'start:2',
      'delta:2 {}',
      'stop:2',
      'start:3',
      'delta:3 {"a":1}',
      'stop:3',
    ]);
  });

  it('of reasoning end with the signature', () => {
    const events = written(
      (blocks) => {
        blocks.thinking('hm');
        blocks.text('a');
      },
      ['signed'],
    );
    expect(events.slice(0, 4)).toEqual(['start:0', 'delta:0 hm', 'delta:0 signed', 'stop:0']);
  });

  it('are not begun by empty texts', () => {
    expect(written((blocks) => blocks.text(''))).toEqual([]);
    expect(written((blocks) => blocks.thinking(''))).toEqual([]);
  });

  it('of a call begin with its name, even if that comes after some of its arguments', () => {
    const events = written((blocks) => {
      blocks.call({ index: 0, id: 'a', function: { arguments: '{"a"' } });
      blocks.call(call(0, ':1}', 'f'));
    });
    expect(events).toEqual(['start:0', 'delta:0 {"a":1}', 'stop:0']);
  });

  it('of calls wait until the arguments of the open one are whole, and then follow at once', () => {
    const events = (write: (blocks: BlockEvents) => void) => {
      const blocks = new BlockEvents(() => undefined);
      write(blocks);
      return blocks.take().match(/"(?:name|text|partial_json)":"[^"\\]*/g);
    };
    const both = (blocks: BlockEvents): void => {
      blocks.call(call(0, '', 'f'));
      blocks.call(call(1, '1', 'g'));
      blocks.text('a');
      blocks.text('b');
      blocks.call(call(0, '2'));
    };
    expect(events(both)).toEqual(['"name":"f', '"partial_json":"2']);
    const ended = (blocks: BlockEvents): void => {
      blocks.call(call(0, '', 'f'));
      blocks.text('a');
      blocks.text('b');
      blocks.call(call(0, ' { "]}'));
      blocks.call(call(0, '\\"": [{}]'));
      blocks.call(call(0, '} '));
    };
    expect(events(ended)?.at(-1)).toBe('"text":"ab');
  });

  it('fail if a backend continues a call after its arguments, since the client may have made the call', () => {
    const write = (more: string) => (): unknown =>
      written((blocks) => {
        blocks.call(call(0, '{}', 'f'));
        blocks.call(call(1, '', 'g'));
        blocks.call(call(0, more));
      });
    expect(write(' \n')).not.toThrow();
    expect(write('{"a":1}')).toThrow(expect.objectContaining({ code: 'INFERENCE_FAILED' }));
  });
});
