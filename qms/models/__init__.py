"""Embedding, reranking, summarizing and chat models."""
