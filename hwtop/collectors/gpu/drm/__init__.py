"""What the kernel's DRM subsystem has of a GPU, for AMD and Intel."""
