import { Module } from '@nestjs/common';
import { OpenApiDocument } from './openapi-document.js';
import { OpenApiController } from './openapi.controller.js';

@Module({ controllers: [OpenApiController], providers: [OpenApiDocument] })
export class OpenApiModule {}
