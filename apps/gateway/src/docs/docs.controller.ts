import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Route } from '../http/route.decorator.js';
import { unknownRoute } from '../http/error-response.js';
import type { ApiReply } from '../http/fastify-types.js';
import { DOCS_POLICY, readDocsAssets } from './docs-assets.js';

/** Serves the API reference as a web page. Its relative links also work behind a path prefix of a proxy. */
@ApiExcludeController()
@Controller('docs')
export class DocsController {
  private readonly assets = readDocsAssets();

  @Route({
    accepts: 'anyone',
    summary: 'The reference',
    responses: [{ status: 200, description: 'A page.' }],
  })
  @Get()
  async page(@Res() reply: ApiReply): Promise<void> {
    await this.send('', reply);
  }

  @Route({
    accepts: 'anyone',
    resource: { param: 'file', isId: () => true, notFound: unknownRoute },
    summary: 'A file of the page',
    responses: [{ status: 200, description: 'The file.' }],
  })
  @Get(':file')
  async file(@Param('file') file: string, @Res() reply: ApiReply): Promise<void> {
    await this.send(file, reply);
  }

  private async send(name: string, reply: ApiReply): Promise<void> {
    const asset = this.assets.get(name);
    if (asset === undefined) throw unknownRoute();
    await reply
      .header('content-type', asset.type)
      .header('content-security-policy', DOCS_POLICY)
      .header('cache-control', name === '' ? 'no-cache' : 'public, max-age=86400')
      .send(asset.content);
  }
}
