import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Route } from '../http/route.decorator.js';
import { OpenApiDocument } from './openapi-document.js';

@ApiExcludeController()
@Controller('openapi.json')
export class OpenApiController {
  constructor(private readonly document: OpenApiDocument) {}

  @Route({
    accepts: 'anyone',
    summary: 'This document',
    responses: [{ status: 200, description: 'OpenAPI 3.1.' }],
  })
  @Get()
  @Header('content-type', 'application/json; charset=utf-8')
  @Header('cache-control', 'no-cache')
  json(): string {
    return this.document.json;
  }
}
