"""Certificates: what was promised and found about a file, in one document that can be signed and checked again."""

from kohort.audit.certificate.document import Certificate, certificate_of, certify
from kohort.audit.certificate.recheck import verified_by

__all__ = ["Certificate", "certificate_of", "certify", "verified_by"]
