import { Module } from '@nestjs/common';
import { Authenticators, EndUserAuthenticator, KeyAuthenticator } from './authenticators.js';
import { CredentialWatch } from './credential-watch.js';

@Module({
  providers: [KeyAuthenticator, EndUserAuthenticator, Authenticators, CredentialWatch],
  exports: [Authenticators, CredentialWatch],
})
export class AuthModule {}
