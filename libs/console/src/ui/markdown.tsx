import { type Token, type Tokens, lexer } from 'marked';
import type { ComponentChildren } from 'preact';

/** Only these lead elsewhere; a `javascript:` or `data:` address stays text. */
export const isWebAddress = (href: string): boolean => /^https?:\/\//i.test(href) && URL.canParse(href);

interface OutsideLinkProps {
  readonly href: string;
  readonly children: ComponentChildren;
}

/** A link to another site, which learns nothing of this one. */
export const OutsideLink = ({ href, children }: OutsideLinkProps) =>
  isWebAddress(href) ? (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ) : (
    <>{children}</>
  );

/** Deeper lists and quotes than this are shown as text: a reader needs none, and they cost a stack. */
const MOST_DEPTH = 16;

interface TokensProps {
  readonly tokens: readonly Token[] | undefined;
  readonly depth: number;
}

const Parts = ({ tokens = [], depth }: TokensProps) => (
  <>
    {tokens.map((token, at) => (
      <Part key={at} token={token} depth={depth + 1} />
    ))}
  </>
);

const Cells = ({ row, depth }: { readonly row: readonly Tokens.TableCell[]; readonly depth: number }) => (
  <tr>
    {row.map(({ tokens, header }, at) =>
      header ? (
        <th key={at} scope="col">
          <Parts tokens={tokens} depth={depth} />
        </th>
      ) : (
        <td key={at}>
          <Parts tokens={tokens} depth={depth} />
        </td>
      ),
    )}
  </tr>
);

const Table = ({ token, depth }: { readonly token: Tokens.Table; readonly depth: number }) => (
  <div class="table-box" tabIndex={0} role="region" aria-label="Table">
    <table>
      <thead>
        <Cells row={token.header} depth={depth} />
      </thead>
      <tbody>
        {token.rows.map((row, at) => (
          <Cells key={at} row={row} depth={depth} />
        ))}
      </tbody>
    </table>
  </div>
);

function List({ token, depth }: { readonly token: Tokens.List; readonly depth: number }) {
  const items = token.items.map((item, at) => (
    <li key={at}>
      {item.task && (item.checked ? '☑ ' : '☐ ')}
      <Parts tokens={item.tokens} depth={depth} />
    </li>
  ));
  return token.ordered ? <ol start={token.start === '' ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>;
}

type Rendered = Readonly<Record<string, (token: Tokens.Generic, depth: number) => ComponentChildren>>;

const within = (token: Tokens.Generic, depth: number) => <Parts tokens={token.tokens} depth={depth} />;

/** Each kind of token as elements. Others, HTML above all, are shown as the text that they are. */
const RENDERED: Rendered = {
  space: () => null,
  br: () => <br />,
  hr: () => <hr />,
  // Below the headings of the page.
  heading: (token, depth) => <h3>{within(token, depth)}</h3>,
  paragraph: (token, depth) => <p>{within(token, depth)}</p>,
  strong: (token, depth) => <strong>{within(token, depth)}</strong>,
  em: (token, depth) => <em>{within(token, depth)}</em>,
  del: (token, depth) => <s>{within(token, depth)}</s>,
  blockquote: (token, depth) => <blockquote class="prose">{within(token, depth)}</blockquote>,
  codespan: ({ text }) => <code>{text}</code>,
  code: ({ text }) => (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label="Code">
        {text}
      </pre>
    </div>
  ),
  list: (token, depth) => <List token={token as Tokens.List} depth={depth} />,
  table: (token, depth) => <Table token={token as Tokens.Table} depth={depth} />,
  link: (token, depth) => <OutsideLink href={String(token['href'])}>{within(token, depth)}</OutsideLink>,
  // A picture of another host would tell it who reads this.
  image: (token) => <OutsideLink href={String(token['href'])}>[picture: {token.raw}]</OutsideLink>,
  escape: ({ text }) => String(text),
  text: (token, depth) => (token.tokens ? within(token, depth) : String(token['text'])),
};

interface PartProps {
  readonly token: Token;
  readonly depth: number;
}

function Part({ token, depth }: PartProps) {
  const render = Object.hasOwn(RENDERED, token.type) ? RENDERED[token.type] : undefined;
  return <>{render && depth < MOST_DEPTH ? render(token, depth) : token.raw}</>;
}

/** The Markdown of a model as elements; nothing of it becomes HTML. */
export const Markdown = ({ text }: { readonly text: string }) => (
  <div class="prose">
    <Parts tokens={lexer(text, { gfm: true, breaks: true })} depth={0} />
  </div>
);
