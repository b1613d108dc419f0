import { Controller, Param, Query, Res } from '@nestjs/common';
import { Catalog, Characters } from '@svc/catalog';
import {
  type Character,
  type CharacterList,
  CharacterQuery,
  type CharacterReply,
  CharacterReviewQuery,
  type CharacterReviews,
} from '@svc/api/characters';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import type { FastifyReply } from 'fastify';
import { characterNotFound, characterView, searchCharacters } from './character-search.js';

/** Lists the available characters. */
@Controller()
export class CharactersController {
  constructor(
    private readonly characters: Characters,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.characters)
  list(@Query() query: CharacterQuery): CharacterList {
    const found = searchCharacters(this.characters.list(), query, this.modelId);
    return { object: 'list', data: found.map((character) => characterView(character, this.modelId)) };
  }

  @Serves(routes.character)
  one(@Param() { slug }: { slug: string }): CharacterReply {
    return { object: 'character', data: characterView(this.named(slug), this.modelId) };
  }

  @Serves(routes.characterReviews)
  reviews(
    @Param() { slug }: { slug: string },
    @Query() { page, pageSize }: CharacterReviewQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): CharacterReviews {
    this.named(slug);
    void reply.headers({
      'x-pagination-limit': pageSize,
      'x-pagination-page': page,
      'x-pagination-total': 0,
      'x-pagination-total-pages': 0,
    });
    return {
      object: 'list',
      data: [],
      pagination: { page, pageSize, total: 0, totalPages: 0 },
      summary: { averageRating: 0, totalReviews: 0 },
    };
  }

  private named(slug: string): Character {
    const character = this.characters.find(slug);
    if (!character) throw characterNotFound('slug');
    return character;
  }

  /** Resolves the name of a model at present. */
  private readonly modelId = (name: string): string => this.catalog.text.find(name)?.id ?? name;
}
