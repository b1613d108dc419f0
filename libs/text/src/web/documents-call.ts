import type { SvcParametersEcho } from '@svc/api/chat';

/** The tool whose call carries the search results. */
const DOCUMENTS_TOOL = 'svc_web_search_documents';

/** Search results as a tool call that no model made, for clients that display the sources of such calls. */
export interface DocumentsCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export function documentsCall(
  requestId: string,
  citations: SvcParametersEcho['web_search_citations'],
): DocumentsCall {
  const documents = citations.map(({ title, url, content, date }, index) => ({
    id: String(index),
    title,
    url,
    snippet: content ?? '',
    published_at: date ?? null,
  }));
  const id = `call_${requestId.replace(/^[a-z]+[-_]/, '')}`;
  return {
    id,
    type: 'function',
    function: { name: DOCUMENTS_TOOL, arguments: JSON.stringify({ documents }) },
  };
}
