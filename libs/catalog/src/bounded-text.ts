/** The text of a response; undefined if it has more bytes. Rejects if the response breaks off. */
export async function boundedText(response: Response, limitBytes: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > limitBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
