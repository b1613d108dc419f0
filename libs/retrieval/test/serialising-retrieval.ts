import {
  type ExtractedText,
  ExtractionReply,
  Retrieval,
  type SourceFile,
  decodeExtraction,
  decodeFile,
  encodeExtraction,
  encodeFileHead,
} from '@svc/contracts/ports';

/** Passes everything through its wire format: one header, raw bytes, and JSON back. */
export class SerialisingRetrieval extends Retrieval {
  constructor(private readonly inner: Retrieval) {
    super();
  }

  async extractText(file: SourceFile, signal?: AbortSignal): Promise<ExtractedText> {
    const header = encodeFileHead(file);
    if (!/^[\x21-\x7e]{1,12000}$/.test(header)) throw new Error('no header has room for this');
    const received = decodeFile(header, Uint8Array.from(file.bytes));
    const reply = JSON.stringify(await encodeExtraction(this.inner.extractText(received, signal)));
    return decodeExtraction(ExtractionReply.parse(JSON.parse(reply)));
  }
}
