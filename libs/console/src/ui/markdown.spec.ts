import { type ComponentChildren, type VNode, isValidElement } from 'preact';
import { describe, expect, it } from 'vitest';
import { Markdown, isWebAddress } from './markdown.js';

interface DrawnElement {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly text: string;
}

type Draws = (props: object) => ComponentChildren;

/** The elements that a component draws, those within others after them, and their text. */
function elementsOf(children: ComponentChildren): { elements: DrawnElement[]; text: string } {
  if (Array.isArray(children)) {
    const parts = children.map((child: ComponentChildren) => elementsOf(child));
    return {
      elements: parts.flatMap(({ elements }) => elements),
      text: parts.map(({ text }) => text).join(''),
    };
  }
  if (!isValidElement(children)) return { elements: [], text: typeof children === 'string' ? children : '' };
  const { type, props } = children as VNode<{ children?: ComponentChildren }>;
  if (typeof type === 'function') return elementsOf((type as Draws)(props));
  const { children: within, ...attributes } = props;
  const { elements, text } = elementsOf(within);
  return { elements: [{ tag: String(type), attributes, text }, ...elements], text };
}

const drawn = (text: string) => elementsOf(Markdown({ text }));
const HARMLESS = 'div p a strong em s code pre table thead tbody tr th td ul ol li h3 blockquote br hr'.split(
  ' ',
);

describe('the Markdown of a model', () => {
  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'a <b onclick="alert(1)">b</b>',
    '<iframe src="https://example.com"></iframe>',
    '[a](javascript:alert(1))',
    '[a](data:text/html,<script>alert(1)</script>)',
    '[a](JaVaScRiPt:alert(1))',
    '![a](https://example.com/pixel.png)',
    '<style>*{display:none}</style>',
    '<svg onload=alert(1)>',
    '| a |\n|---|\n| <script>alert(1)</script> |',
    '```html\n<script>alert(1)</script>\n```',
  ])('becomes neither a script nor a request: %j', (text) => {
    const { elements } = drawn(text);
    expect(elements.map(({ tag }) => tag).filter((tag) => !HARMLESS.includes(tag))).toEqual([]);
    const attributes = elements.flatMap((element) => Object.entries(element.attributes));
    expect(attributes.filter(([name]) => /^on|src|dangerously/i.test(name))).toEqual([]);
    const addresses = attributes.filter(([name]) => name === 'href').map(([, value]) => String(value));
    expect(addresses.every(isWebAddress)).toBe(true);
  });

  it('shows the characters that HTML would read otherwise as they are', () => {
    expect(drawn('1 < 2 && "x" \'y\' `a < b &amp;`').text).toBe('1 < 2 && "x" \'y\' a < b &amp;');
  });

  it('has headings, lists, code, tables and links as elements', () => {
    const blocks = ['# A', '1. b\n2. c', '```\nd\n```', '| e |\n|---|\n| f |', '[g](https://example.com)'];
    const { elements } = drawn(blocks.join('\n\n'));
    const tagged = (name: string) => elements.filter(({ tag }) => tag === name);
    expect(tagged('h3')[0]?.text).toBe('A');
    expect(tagged('li')).toHaveLength(2);
    expect(tagged('pre')[0]?.text).toBe('d');
    expect(tagged('td')[0]?.text).toBe('f');
    expect(tagged('a')[0]?.attributes['rel']).toContain('noopener');
  });

  it('is drawn however deep it is nested', () => {
    expect(drawn(`${'> '.repeat(300)}end`).text).toContain('end');
  });
});
