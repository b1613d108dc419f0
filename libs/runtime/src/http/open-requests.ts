import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

/** A client may leave an answer unread for so long, as it may a stream. */
const UNREAD_MS = 60_000;

/** A connection takes as much in any case. */
const SMALL_BYTES = 16_384;

/**
 * The requests of each connection whose answers have not ended. Fastify tells of an answer that was written to its end,
 * and Node of one whose connection closes only where it is the first in its line.
 */
export class OpenRequests {
  readonly #of = new WeakMap<Socket, Set<FastifyReply>>();
  readonly #left: (reply: FastifyReply) => void;

  /** `left` is told each request whose connection has closed before its answer ended. */
  constructor(left: (reply: FastifyReply) => void) {
    this.#left = left;
  }

  begin(reply: FastifyReply): void {
    const { socket } = reply.request.raw;
    let open = this.#of.get(socket);
    if (!open) {
      this.#of.set(socket, (open = new Set()));
      socket.once('close', () => this.#leave(socket));
    }
    open.add(reply);
  }

  /** Whether it had not ended yet. */
  end(reply: FastifyReply): boolean {
    return this.#of.get(reply.request.raw.socket)?.delete(reply) ?? false;
  }

  #leave(socket: Socket): void {
    const open = this.#of.get(socket);
    this.#of.delete(socket);
    open?.forEach(this.#left);
  }
}

/**
 * Lets go of a client that does not read the rest of an answer which has ended: it would be kept in memory for as long as
 * the client stays connected. One that reads slowly is waited for.
 */
export function endUnread(raw: ServerResponse, unreadMs = UNREAD_MS): void {
  raw.once('prefinish', () => {
    if (raw.writableLength > SMALL_BYTES) raw.setTimeout(unreadMs, () => raw.destroy());
  });
}
