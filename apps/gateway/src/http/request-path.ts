import type { FastifyRequest } from 'fastify';

/** The path without the query: queries may hold secrets. */
export const pathOf = (request: Pick<FastifyRequest, 'url'>): string => request.url.split('?', 1)[0] ?? '';
