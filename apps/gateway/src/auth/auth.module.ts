import { Module } from '@nestjs/common';
import { Authenticators, EndUserAuthenticator, KeyAuthenticator } from './authenticators.js';
import { WebhookAuthentication } from './webhook-authentication.js';
import { CredentialWatch } from './credential-watch.js';

@Module({
  providers: [KeyAuthenticator, EndUserAuthenticator, Authenticators, CredentialWatch, WebhookAuthentication],
  exports: [Authenticators, CredentialWatch, WebhookAuthentication],
})
export class AuthModule {}
