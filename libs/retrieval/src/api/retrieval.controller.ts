import { Controller, Req } from '@nestjs/common';
import {
  type ExtractionReply,
  FILE_HEADER,
  Retrieval,
  type SourceFile,
  decodeFile,
  encodeExtraction,
} from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves, whileConnected } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';

/** The port `Retrieval` over HTTP: a file's bytes are the body, and its metadata is in a header. */
@Controller()
export class RetrievalController {
  constructor(private readonly retrieval: Retrieval) {}

  @Serves(routes.extractText)
  async extractText(@Req() request: FastifyRequest): Promise<ExtractionReply> {
    const file = fileOf(request);
    return whileConnected(request, (signal) => encodeExtraction(this.retrieval.extractText(file, signal)));
  }
}

function fileOf({ headers, body, record }: FastifyRequest): SourceFile {
  try {
    const file = decodeFile(String(headers[FILE_HEADER]), body as Buffer);
    record.accountId = file.accountId;
    return file;
  } catch (error) {
    throw new Problem('INVALID_REQUEST', { cause: error });
  }
}
