import { ApiBody, ApiConsumes, ApiParam, ApiQuery } from '@nestjs/swagger';
import type { TSchema } from 'typebox';
import type { RouteRules } from '../http/fastify-types.js';
import { keywordsOf } from '../validation/schema-keywords.js';

const BYTES = { type: 'string', format: 'binary' };

/** Returns the decorators that describe a route's path parameters, query and body in the OpenAPI document. */
export const describeInput = ({
  params = {},
  query,
  body,
}: Pick<RouteRules, 'params' | 'query' | 'body'>): readonly MethodDecorator[] => [
  ...Object.entries(params).map(([name, schema]) => ApiParam({ name, schema })),
  ...(query === undefined ? [] : describeQuery(query)),
  ...(body?.shape === undefined ? [] : [ApiBody({ schema: body.shape, required: true })]),
  ...(body?.kind === 'multipart' ? [ApiConsumes('multipart/form-data')] : []),
  ...(body?.kind === 'raw'
    ? [ApiBody({ schema: BYTES, required: true }), ApiConsumes('application/octet-stream')]
    : []),
];

const describeQuery = (query: TSchema): readonly MethodDecorator[] => {
  const { properties = {}, required = [] } = keywordsOf(query);
  return Object.entries(properties).map(([name, member]) => {
    const { description, ...rest } = keywordsOf(member);
    const schema: TSchema = rest;
    const described = description === undefined ? {} : { description };
    return ApiQuery({ name, required: required.includes(name), ...described, schema });
  });
};
