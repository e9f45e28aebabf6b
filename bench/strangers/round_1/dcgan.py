#%%
# DCGAN notebook, exported
import random
import torch
import torch.nn as nn
import torch.optim as optim
torch.set_num_threads(1)
manualSeed = 999
random.seed(manualSeed); torch.manual_seed(manualSeed)
nz, ngf, ndf, nc = 32, 16, 16, 1
num_epochs, iters, batch = 400, 120, 32
#%%
def weights_init(m):
    if "Conv" in m.__class__.__name__:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
netG = nn.Sequential(nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0), nn.BatchNorm2d(ngf * 2), nn.ReLU(True),
                     nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1), nn.BatchNorm2d(ngf), nn.ReLU(True),
                     nn.ConvTranspose2d(ngf, nc, 4, 2, 1), nn.Tanh())
netD = nn.Sequential(nn.Conv2d(nc, ndf, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(ndf, ndf * 2, 4, 2, 1), nn.LeakyReLU(0.2),
                     nn.Conv2d(ndf * 2, 1, 4, 1, 0), nn.Sigmoid())
netG.apply(weights_init); netD.apply(weights_init)
criterion = nn.BCELoss()
optimizerD = optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
def real_batch():
    # bright discs on dark ground
    c = torch.rand(batch, 2, 1, 1) * 10 + 3
    yy, xx = torch.meshgrid(torch.arange(16.), torch.arange(16.), indexing="ij")
    d = ((xx - c[:, :1]) ** 2 + (yy - c[:, 1:]) ** 2)
    return torch.exp(-d / 8) * 2 - 1 + 0.1 * torch.randn(batch, 1, 16, 16)
#%%
print("Starting Training Loop...", flush=True)
for epoch in range(num_epochs):
    for i in range(iters):
        netD.zero_grad()
        real = real_batch()
        label = torch.full((batch,), 1.0)
        output = netD(real).view(-1)
        errD_real = criterion(output, label); errD_real.backward(); D_x = output.mean().item()
        noise = torch.randn(batch, nz, 1, 1)
        fake = netG(noise)
        label.fill_(0.0)
        output = netD(fake.detach()).view(-1)
        errD_fake = criterion(output, label); errD_fake.backward(); D_G_z1 = output.mean().item()
        errD = errD_real + errD_fake
        optimizerD.step()
        netG.zero_grad()
        label.fill_(1.0)
        output = netD(fake).view(-1)
        errG = criterion(output, label); errG.backward(); D_G_z2 = output.mean().item()
        optimizerG.step()
        if i % 20 == 0:
            print('[%d/%d][%d/%d]\tLoss_D: %.4f\tLoss_G: %.4f\tD(x): %.4f\tD(G(z)): %.4f / %.4f'
                  % (epoch, num_epochs, i, iters, errD.item(), errG.item(), D_x, D_G_z1, D_G_z2), flush=True)
